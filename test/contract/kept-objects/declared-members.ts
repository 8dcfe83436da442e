import ts from 'typescript';

/** A member that a request can have, somewhere in it. */
export interface DeclaredMember {
  /** The interface that declares it; of an anonymous one the member that holds it. */
  readonly owner: string;
  readonly name: string;
  /** The values that `type` can have beside it. */
  readonly types: readonly string[];
}

const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  skipLibCheck: true,
  types: ['node'],
};
/** The members of files, bytes and signals are not part of a request. */
const NOT_OF_REQUESTS = /node_modules\/(?:@types|typescript|undici-types)\//;

/**
 * Every member of every type that can be reached from the members of the interface `Requests` in a file, through
 * unions, lists and nested objects.
 *
 * @throws Error the file does not compile: a type that was renamed would be missed.
 */
export function declaredMembers(file: string): DeclaredMember[] {
  const program = ts.createProgram([file], OPTIONS);
  const source = program.getSourceFile(file);
  const requests = source?.statements.find(isRequests);
  const [problem] = program.getSemanticDiagnostics(source);
  if (requests === undefined || problem !== undefined) {
    throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(problem?.messageText, '\n') || 'has no Requests'}`);
  }
  const walk = new Walk(program.getTypeChecker());
  for (const member of requests.members) walk.read(walk.checker.getTypeAtLocation(member), 'Requests');
  return walk.members;
}

function isRequests(statement: ts.Statement): statement is ts.InterfaceDeclaration {
  return ts.isInterfaceDeclaration(statement) && statement.name.text === 'Requests';
}

class Walk {
  readonly members: DeclaredMember[] = [];
  readonly #seen = new Set<ts.Type>();

  constructor(readonly checker: ts.TypeChecker) {}

  read(type: ts.Type, holder: string): void {
    if (this.#seen.has(type)) return;
    this.#seen.add(type);
    if (type.isUnionOrIntersection()) for (const part of type.types) this.read(part, holder);
    if (type.isUnion() || (type.flags & ts.TypeFlags.Object) === 0) return;
    if (this.checker.isArrayType(type) || this.checker.isTupleType(type)) {
      for (const entry of this.checker.getTypeArguments(type as ts.TypeReference)) this.read(entry, holder);
      return;
    }
    for (const { type: entry } of this.checker.getIndexInfosOfType(type)) this.read(entry, holder);
    this.readMembers(type, holder);
  }

  private readMembers(type: ts.Type, holder: string): void {
    const own = type.getProperties().filter(isOfRequests);
    const types = this.typesOf(own.find(({ name }) => name === 'type'));
    for (const property of own) {
      const owner = ownerOf(property) ?? holder;
      this.members.push({ owner, name: property.name, types });
      this.read(this.checker.getTypeOfSymbol(property), property.name);
    }
  }

  private typesOf(property: ts.Symbol | undefined): readonly string[] {
    if (property === undefined) return [''];
    const type = this.checker.getNonNullableType(this.checker.getTypeOfSymbol(property));
    const parts = type.isUnion() ? type.types : [type];
    return parts.map((part) => (part.isStringLiteral() ? part.value : ''));
  }
}

function isOfRequests({ declarations }: ts.Symbol): boolean {
  const file = declarations?.[0]?.getSourceFile().fileName;
  return file !== undefined && !NOT_OF_REQUESTS.test(file);
}

function ownerOf({ declarations }: ts.Symbol): string | undefined {
  const parent = declarations?.[0]?.parent;
  return parent !== undefined && (ts.isInterfaceDeclaration(parent) || ts.isClassDeclaration(parent))
    ? parent.name?.text
    : undefined;
}
