import { IgnoresOthers, Text, Verbatim } from '../../common/fields/fields.js';
import { MAX_BOOTSTRAP_KEY, MAX_ORGANIZATION_NAME } from '../organization.rules.js';

export class OrganizationNameRequest {
  @Text({ max: MAX_ORGANIZATION_NAME, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;
}

export class ClaimOrganizationRequest {
  @Verbatim({ max: MAX_BOOTSTRAP_KEY, description: 'The value of `BOOTSTRAP_MANAGEMENT_KEY`.' })
  readonly bootstrapKey: string;
}

@IgnoresOthers()
export class SelectOrganizationRequest {
  @Text({ max: 300, description: 'One that you belong to.' })
  readonly organizationId: string;
}
