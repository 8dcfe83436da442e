import { applyDecorators } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { DIALECT_FACTS } from '../upstreams/dialect-table.js';

/** Credential headers of provider SDKs, each with the name of its security scheme. */
export const NATIVE_CREDENTIALS: readonly {
  readonly scheme: string;
  readonly header: string;
  readonly label: string;
}[] = Object.values(DIALECT_FACTS).flatMap(({ label, credentialHeader: header = 'authorization' }) =>
  header === 'authorization' ? [] : [{ scheme: `${label}Header`, header, label }],
);

/** Documents that a provider route accepts the caller's credential in the header of the provider's own SDK. */
export function NativeCredentials(): MethodDecorator {
  return applyDecorators(...NATIVE_CREDENTIALS.map(({ scheme }) => ApiSecurity(scheme)));
}
