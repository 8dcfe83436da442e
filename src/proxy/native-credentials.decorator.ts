import { applyDecorators } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { DIALECT_FACTS } from '../upstreams/dialect-table.js';

/** Headers in which SDKs of providers send their key, each with the name of its security scheme. */
export const NATIVE_CREDENTIALS: readonly {
  readonly scheme: string;
  readonly header: string;
  readonly label: string;
}[] = Object.values(DIALECT_FACTS).flatMap(({ label, credentialHeader: header = 'authorization' }) =>
  header === 'authorization' ? [] : [{ scheme: `${label}Header`, header, label }],
);

/** Says in the document that a provider route takes a caller's credential where the provider's own SDK sends it. */
export function NativeCredentials(): MethodDecorator {
  return applyDecorators(...NATIVE_CREDENTIALS.map(({ scheme }) => ApiSecurity(scheme)));
}
