import type { Type } from '@nestjs/common';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import type { AppRow } from '../../app-directory/app.entity.js';
import { readShape } from '../../common/fields/read-shape.js';

/** The arguments of a tool without any. */
export class NoArguments {}

/** A call that its caller may make. */
export interface PermittedCall {
  readonly admin: AdminPrincipal;
  /** Where the call comes from. */
  readonly address: string;
  /** The application, for tools that have the argument `app`. */
  readonly app: AppRow | undefined;
  /** The arguments that the route has in its path, besides `app`. */
  readonly named: Readonly<Record<string, string>>;
  /** The other arguments, not yet validated. */
  readonly members: object;
}

/** A call with valid arguments. */
export interface ToolCall<I> extends Omit<PermittedCall, 'members'> {
  /** The other arguments, as the class of the route's query or body. */
  readonly input: I;
}

export interface AppToolCall<I> extends ToolCall<I> {
  readonly app: AppRow;
}

export interface ToolAnswer {
  /** The body of the route. */
  readonly body: object;
  /** One line. */
  readonly summary: string;
}

/** Finds the instance of a controller. */
export type FindController = <C extends object>(type: Type<C>) => C;

/** Arguments of an earlier version of a tool. */
interface FormerArguments {
  /** Earlier names, by current names. */
  readonly names?: Readonly<Record<string, string>>;
  /** The argument that held all members of the body, and a check that distinguishes its value from a current one. */
  readonly inside?: { readonly name: string; holdsBody(value: object): boolean };
}

export interface ToolFacts {
  readonly name: string;
  readonly title: string;
  /** For the model; that of the route when absent. */
  readonly description?: string;
  /** Descriptions of the arguments that the route has in its path, besides `app`. */
  readonly named?: Readonly<Record<string, string>>;
  /** Descriptions of further arguments, which may be absent and are not members of the body. */
  readonly optional?: Readonly<Record<string, string>>;
  /** The one argument that holds all members of the route's body. */
  readonly inside?: string;
  /** What an earlier version accepted; supported for one more version. */
  readonly formerly?: FormerArguments;
  /** The argument that `confirm` repeats, where the route requires no confirmation. */
  readonly confirms?: string;
  /** It overwrites or removes. */
  readonly destructive?: boolean;
}

/** A tool of the MCP endpoint, over the method of a controller. */
export interface Tool extends ToolFacts {
  readonly controller: Type<object>;
  /** The method whose access the tool has. */
  readonly method: string;
  readonly app: 'none' | 'optional' | 'required';
  /** The class whose members are arguments. */
  readonly input: Type<object>;
  /** The classes of the members, where these depend on `type`; else they are those of `input`. */
  readonly forms?: readonly Type<object>[];
  /** @throws invalid_request for arguments that the route would refuse; anything that the route throws. */
  answer(call: PermittedCall, find: FindController): Promise<ToolAnswer>;
}

interface Definition<C, I, B, Call> extends ToolFacts {
  readonly route: readonly [controller: Type<C>, method: keyof C & string];
  /** The class of the route's query or body. */
  readonly input?: Type<I>;
  run(routes: C, call: Call): B | Promise<B>;
  summary(body: B): string;
}

/** Defines a tool of an account. @param app whether it has the argument `app`. */
export function tool<C extends object, B extends object, I extends object = NoArguments>(
  {
    route: [controller, method],
    input = NoArguments as Type<I>,
    run,
    summary,
    ...facts
  }: Definition<C, I, B, ToolCall<I>>,
  app: Tool['app'] = 'none',
): Tool {
  return {
    ...facts,
    ...{ controller, method, app, input },
    async answer({ members, ...call }, find) {
      const body = await run(find(controller), { ...call, input: readShape(input, members) });
      return { body, summary: summary(body) };
    },
  };
}

/** Defines a tool of one application of the account. */
export function appTool<C extends object, B extends object, I extends object = NoArguments>({
  run,
  ...definition
}: Definition<C, I, B, AppToolCall<I>>): Tool {
  const ofApp = (routes: C, { app, ...call }: ToolCall<I>) => {
    if (app === undefined) throw new Error('A tool of an application was called without one.');
    return run(routes, { ...call, app });
  };
  return tool<C, B, I>({ ...definition, run: ofApp }, 'required');
}

/** Joins two tools to one whose argument `app` may be absent: then it is `without`. Both must be for reading. */
export function withOrWithoutApp(withApp: Tool, without: Tool): Tool {
  return {
    ...withApp,
    app: 'optional',
    answer: (call, find) => (call.app === undefined ? without : withApp).answer(call, find),
  };
}

/** Text from others in a summary, distinguishable from the surrounding words. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A number of things, such as `1 key` or `2 keys`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
