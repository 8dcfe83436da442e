import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { APP_CONFIG, type AppStatus, WithAppConfig } from '../../app-directory/config/app-config.js';
import type { ResolvedApp } from '../../app-directory/config/resolved-app.rules.js';
import type { IssuedAppKey } from '../../app-keys/app-key.entity.js';
import { IssuedAppKeyResponse } from '../../app-keys/dto/app-key.response.js';
import type { AppView } from '../app-views.js';

@WithAppConfig()
export class AppResource {
  @ApiProperty({ type: 'string', description: 'Assigned by the service; never changes.' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Your own name for it in scripts and files; null: none.',
  })
  handle: string | null;

  @ApiProperty({
    anyOf: [
      APP_CONFIG,
      { type: 'object', additionalProperties: true, description: 'As stored, when `config_error` is not null.' },
    ],
    description: 'Normalised, defaults filled in.',
  })
  config: unknown;

  @ApiProperty({ type: 'string', enum: ['active', 'disabled'] })
  status: AppStatus;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Increases by one with each write.' })
  revision: number;

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  updated_at: string;

  static from({ app, config }: AppView): AppResource {
    return Object.assign(new AppResource(), {
      id: app.id,
      name: app.name,
      handle: app.handle,
      config,
      status: app.status,
      revision: app.revision,
      created_at: app.createdAt.toISOString(),
      updated_at: app.updatedAt.toISOString(),
    });
  }
}

export class AppResponse {
  @ApiProperty({ type: AppResource })
  app: AppResource;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'What is enforced at run time, for display; null when the configuration is no longer valid.',
  })
  resolved: ResolvedApp | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the stored configuration is no longer valid.' })
  config_error: string | null;

  static from(view: AppView): AppResponse {
    const { resolved, configError } = view;
    return Object.assign(new AppResponse(), { app: AppResource.from(view), resolved, config_error: configError });
  }
}

@ApiExtraModels(IssuedAppKeyResponse)
export class CreatedAppResponse extends AppResponse {
  @ApiProperty({
    type: IssuedAppKeyResponse,
    nullable: true,
    description: 'The first key of an application with authentication type `api_key`; null for others.',
  })
  api_key: IssuedAppKeyResponse | null;

  static created(view: AppView, key: IssuedAppKey | null): CreatedAppResponse {
    return Object.assign(new CreatedAppResponse(), AppResponse.from(view), {
      api_key: key && IssuedAppKeyResponse.from(key),
    });
  }
}

export class DeletedAppResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  deleted: true;

  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Stored users deleted with it.' })
  removed_users: number;

  @ApiProperty({ type: 'boolean', enum: [true] })
  usage_events_retained: true;

  static from(appId: string, removedUsers: number): DeletedAppResponse {
    return Object.assign(new DeletedAppResponse(), {
      deleted: true,
      app_id: appId,
      removed_users: removedUsers,
      usage_events_retained: true,
    });
  }
}
