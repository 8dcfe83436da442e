import { IgnoresOthers, Text } from '../../common/fields/fields.js';
import { MAX_ORGANIZATION_NAME } from '../organization.rules.js';

export class OrganizationNameRequest {
  @Text({ max: MAX_ORGANIZATION_NAME, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;
}

@IgnoresOthers()
export class SelectOrganizationRequest {
  @Text({ max: 300, description: 'One that you belong to.' })
  readonly organizationId: string;
}
