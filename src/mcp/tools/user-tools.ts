import { GetUserRequest, ListUsersRequest } from '../../users/dto/users.request.js';
import { UsersController } from '../../users/users.controller.js';
import { appTool, counted, quoted, type Tool } from './tool.js';

const NAMED_USER = { user: 'Id of the user.' };

/** Tools of the users of an application. */
export const USER_TOOLS: readonly Tool[] = [
  appTool({
    name: 'list_app_users',
    title: 'List users',
    route: [UsersController, 'list'],
    input: ListUsersRequest,
    run: (users, { app, input }) => users.list(app, input),
    summary: ({ users, total }) => `${users.length} of ${counted(total, 'user')}.`,
  }),
  appTool({
    name: 'get_app_user',
    title: 'Read a user',
    description: 'One user of an application, with the usage of one UTC month.',
    route: [UsersController, 'get'],
    named: NAMED_USER,
    input: GetUserRequest,
    run: (users, { app, named: { user = '' }, input }) => users.get(app, user, input),
    summary: ({ user }) => `${quoted(user.id)} is ${user.status}.`,
  }),
  appTool({
    name: 'block_app_user',
    title: 'Block a user',
    route: [UsersController, 'block'],
    named: NAMED_USER,
    run: (users, { admin, app, named: { user = '' } }) => users.block(admin, app, user),
    summary: ({ user_id }) => `${quoted(user_id)} is blocked.`,
  }),
  appTool({
    name: 'unblock_app_user',
    title: 'Unblock a user',
    route: [UsersController, 'unblock'],
    named: NAMED_USER,
    run: (users, { admin, app, named: { user = '' } }) => users.unblock(admin, app, user),
    summary: ({ user_id }) => `${quoted(user_id)} is active.`,
  }),
];
