// Options are declared once: their type comes from their schema. An interface that lists the same members again is forgotten in
// the next change.
import { parseAst } from 'vite'
import { expect, test } from 'vitest'
import { isFunction, isNode, type Node, nameIn } from '../../scripts/structure/syntax.ts'
import { type Source, sources } from './source-files.ts'

/** An interface, a literal type or an object of schemas, with the names of its members. */
interface Shape {
  readonly path: string
  readonly name: string
  readonly members: readonly string[]
}

const packageOf = (path: string): string => path.split('/', path.startsWith('plugins/') ? 1 : 2).join('/')

const membersOf = (nodes: unknown, type: string): readonly Node[] =>
  (nodes as readonly Node[]).filter((node) => node.type === type)

/** Types of an interface are inherited from others, whose members count if they are in the same file. */
function shapesIn({ path, text }: Source): { readonly types: readonly Shape[]; readonly schemas: readonly Shape[] } {
  const types: Shape[] = []
  const schemas: Shape[] = []
  const isSchema = ({ start, end }: Node): boolean => /^(?:v\.|member\()/u.test(text.slice(start, end))
  const namesOf = (nodes: readonly Node[]): readonly string[] => nodes.map(({ key }) => nameIn(key) ?? '')

  function visit(node: Node, outer: string): void {
    const name = nameIn(node.id) ?? nameIn(node.key) ?? outer
    if (node.type === 'TSInterfaceDeclaration') {
      const parents = (node.extends as readonly Node[]).map(({ expression }) => nameIn(expression))
      const inherited = types.filter((type) => parents.includes(type.name)).flatMap(({ members }) => members)
      const declared = namesOf(membersOf((node.body as Node).body, 'TSPropertySignature'))
      types.push({ path, name, members: [...inherited, ...declared] })
    }
    if (node.type === 'TSTypeLiteral')
      types.push({ path, name, members: namesOf(membersOf(node.members, 'TSPropertySignature')) })
    if (node.type === 'ObjectExpression') {
      const members = membersOf(node.properties, 'Property')
      const values = members.map(({ value }) => value as Node)
      const areSchemas = values.every((value) => isSchema(value) || /^(?:CallExpression|Identifier)$/u.test(value.type))
      if (areSchemas && values.some(isSchema)) schemas.push({ path, name, members: namesOf(members) })
    }
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, name)
  }

  visit(parseAst(text, { lang: 'ts' }, path) as unknown as Node, 'module')
  return { types, schemas }
}

const areSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length > 1 && some.length === others.length && some.every((member) => others.includes(member))

/** Types beside an object of schemas with the same members: in the same file, or with three members and more in the package. */
function pairsIn(files: readonly Source[]): readonly string[] {
  const shapes = files.map(shapesIn)
  const schemas = shapes.flatMap((each) => each.schemas)
  return shapes
    .flatMap(({ types }) => types)
    .flatMap(({ path, name, members }) => {
      const isNear = (schema: Shape): boolean =>
        schema.path === path || (members.length > 2 && packageOf(schema.path) === packageOf(path))
      const twin = schemas.find((schema) => isNear(schema) && areSame(schema.members, members))
      return twin === undefined ? [] : [`${path}: ${name} ~ ${twin.path === path ? '' : `${twin.path}: `}${twin.name}`]
    })
}

test('finds a type beside its schema', () => {
  const schema = 'const schema = configurationObject({ a: v.string(), b: v.optional(count) })'
  const inFile = (text: string) => pairsIn([{ path: 'plugins/x/x.ts', text: `${text}\n${schema}` }])
  expect(inFile('export interface Options { readonly a: string; readonly b?: number }')).toEqual([
    'plugins/x/x.ts: Options ~ schema',
  ])
  expect(
    inFile('interface Half { readonly a: string }\ninterface Options extends Half { readonly b: 1 }'),
  ).toHaveLength(1)
  expect(inFile('type Options = { readonly a: string; readonly b?: number }')).toHaveLength(1)
  expect(inFile('type Options = OptionsOf<typeof schema>')).toEqual([])
  expect(inFile('interface Options { readonly a: string; readonly c: number }')).toEqual([])
})

/** Types that stay beside their schemas, and why. */
const kept: Readonly<Record<string, string>> = {
  'packages/core/src/options.ts: ProviderOptions': 'its overloads and ports need types that no schema has',
  'packages/core/src/parts/fields.ts: Fields': 'a part of plugins; the schemas are typed by it',
  'packages/core/src/parts/grant.ts: Actor': 'recursive: the schema is typed by it',
  'packages/core/src/parts/grant.ts: IssuedAssertion':
    'what a plugin returns; the compiler compares it with what is used',
  'packages/core/src/parts/grant.ts: StoredKind': 'a part of plugins; the schemas are typed by it',
  'packages/core/src/parts/grant.ts: issue': 'what a plugin returns; the compiler compares it with what is used',
  'packages/core/src/directory/user-service.ts: Subject': 'what a host returns, with defaults',
  'packages/core/src/directory/user-service.ts: CompleteSubject': 'a subject without defaults',
  'packages/core/src/directory/user-service.ts: UserCredentials':
    'what a host receives; the parameters are its wire form',
  'packages/administration/src/audit-pages.ts: AuditFilter': 'the parameters are its wire form',
  'packages/administration/src/tenants/tenant-type.ts: TenantMembers': 'the members have texts only',
  'packages/administration/src/users/invite-user.ts: InvitedUser': 'the parameters are its wire form',
  'plugins/authorization-endpoint/session-records.ts: SessionDevice': 'its record has no undefined members',
  'plugins/authorization-endpoint/standing.ts: Standing': 'its record has no undefined members',
  'plugins/shared/user-authorizations.ts: UserAuthorization': 'public, and its record has more members',
  'plugins/shared/configured-issuers.ts: IssuerSettings': 'for issuers of any type',
}

test('no type lists the members of a schema again', () => {
  const pairs = pairsIn(sources)
  const keptPairs = pairs.map((pair) => pair.split(' ~ ')[0] ?? '').filter((name) => Object.hasOwn(kept, name))
  expect(pairs.filter((pair) => !Object.hasOwn(kept, pair.split(' ~ ')[0] ?? ''))).toEqual([])
  expect(new Set(keptPairs)).toEqual(new Set(Object.keys(kept)))
})

/** Each function of a file that has a name outside of other functions, and its text without white space. */
function functionsIn({ path, text }: Source): readonly { readonly name: string; readonly forms: readonly string[] }[] {
  const folded = ({ start, end }: Node): string => text.slice(start, end).replaceAll(/\s+/gu, ' ')
  const { body } = parseAst(text, { lang: 'ts' }, path) as unknown as { readonly body: readonly Node[] }
  const declared = body.map((node) => (isNode(node.declaration) ? node.declaration : node))
  const named = declared.flatMap((node) =>
    node.type === 'VariableDeclaration'
      ? (node.declarations as readonly Node[]).map(({ id, init }) => [nameIn(id), init] as const)
      : [[nameIn(node.id), node] as const],
  )
  return named.flatMap(([name = '', node]) => {
    if (!isNode(node) || !isFunction(node)) return []
    const whole = folded(node).replace(/^async /u, '')
    const inner = node.body as Node
    const isLong = text.slice(inner.start, inner.end).split('\n').length > 6
    // One-liners of a few words are said sooner than imported.
    const forms = [...(whole.length > 60 ? [`${name} ${whole}`] : []), ...(isLong ? [folded(inner)] : [])]
    return [{ name: `${path}: ${name}`, forms }]
  })
}

/** The functions that stand twice. */
function repeatedIn(files: readonly Source[]): readonly string[] {
  const places = new Map<string, string[]>()
  for (const { name, forms } of files.flatMap(functionsIn)) {
    for (const form of forms) places.set(form, [...(places.get(form) ?? []), name])
  }
  return [...new Set([...places.values()].filter(({ length }) => length > 1).map((names) => names.join(', ')))]
}

test('finds a function that stands twice', () => {
  const long = (name: string) =>
    `export function ${name}(a: string) {\n  try {\n    return new URL(a)\n  } catch {\n    return undefined\n  }\n}`
  const files = (...texts: readonly string[]) => texts.map((text, index) => ({ path: `plugins/x/${index}.ts`, text }))
  expect(repeatedIn(files(long('parse'), long('read')))).toEqual(['plugins/x/0.ts: parse, plugins/x/1.ts: read'])
  const short = "const isPossible = (name: string): boolean => name !== '' && name.length < 100 && name !== 'admin'"
  expect(repeatedIn(files(short, short.replace('=> ', '=>\n  ')))).toHaveLength(1)
  expect(repeatedIn(files(short, short.replace('100', '200')))).toEqual([])
})

/** Functions of packages that cannot import each other, and of which none is worth an export. */
const repeated: readonly string[] = [
  'packages/core/src/config-schema.ts: flag, plugins/registration/registration-options.ts: flag',
  'packages/core/src/http/authorization-header.ts: parseAuthorization, packages/resource-server/src/authorization-header.ts: parseAuthorization',
  'packages/core/src/http/authorization-header.ts: isToken, packages/resource-server/src/authorization-header.ts: isToken',
  'packages/resource-server/src/dpop/proof.ts: isText, plugins/upstream/upstream-claims.ts: isText',
  'packages/server/src/configuration/storage/fields.ts: text, packages/users/src/ldap/ldap-options.ts: text',
  'packages/storage-drivers/src/d1/d1-commit.ts: hexOf, plugins/self-service/breached-passwords.ts: hexOf',
]

test('no function of the packages stands twice', () => {
  expect(repeatedIn(sources)).toEqual(repeated)
})
