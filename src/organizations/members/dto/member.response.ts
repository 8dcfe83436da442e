import { ApiProperty } from '@nestjs/swagger';
import { ROLES, type Role } from '../../../identity/admin-principal.js';
import type { MemberRow } from '../members.repository.js';

class Member {
  @ApiProperty({ type: 'string', description: 'Id of the person or service identity.' })
  id: string;

  @ApiProperty({ type: 'string', nullable: true })
  name: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Null for service identities.' })
  email: string | null;

  @ApiProperty({ type: 'string', enum: ['human', 'service'] })
  kind: 'human' | 'service';

  @ApiProperty({ type: 'string', enum: [...ROLES] })
  role: Role;

  @ApiProperty({ type: 'string', format: 'date-time' })
  joinedAt: string;

  static from({ id, name, email, kind, role, joinedAt }: MemberRow): Member {
    return Object.assign(new Member(), { id, name, email, kind, role, joinedAt: joinedAt.toISOString() });
  }
}

export class MemberListResponse {
  @ApiProperty({ type: [Member], description: 'Those who joined first come first.' })
  members: Member[];

  static from(rows: readonly MemberRow[]): MemberListResponse {
    return Object.assign(new MemberListResponse(), { members: rows.map(Member.from) });
  }
}

export class MemberResponse {
  @ApiProperty({ type: Member })
  member: Member;

  static from(row: MemberRow): MemberResponse {
    return Object.assign(new MemberResponse(), { member: Member.from(row) });
  }
}

export class RemovedMemberResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  removed: boolean;

  static done(): RemovedMemberResponse {
    return Object.assign(new RemovedMemberResponse(), { removed: true });
  }
}
