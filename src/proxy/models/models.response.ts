import { ApiProperty } from '@nestjs/swagger';
import type { UsableModel } from './model-lists.service.js';

export class ModelResponse {
  @ApiProperty({ type: 'string', description: 'As the client sends it.' })
  id: string;

  @ApiProperty({ type: 'string', enum: ['model'] })
  object: 'model';

  @ApiProperty({ type: 'string', description: 'Developer of the model; else the type of the provider.' })
  owned_by: string;

  @ApiProperty({ type: 'string', description: 'Slug of the provider instance.' })
  provider: string;

  static from({ id, ownedBy, provider }: UsableModel): ModelResponse {
    return Object.assign(new ModelResponse(), { id, object: 'model', owned_by: ownedBy, provider });
  }
}

export class ModelsResponse {
  @ApiProperty({ type: 'string', enum: ['list'] })
  object: 'list';

  @ApiProperty({ type: ModelResponse, isArray: true })
  data: ModelResponse[];

  static from(models: readonly UsableModel[]): ModelsResponse {
    return Object.assign(new ModelsResponse(), { object: 'list', data: models.map(ModelResponse.from) });
  }
}
