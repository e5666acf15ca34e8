// A member is declared in one place, also by a plugin of another project: the description of the API, the forms of the
// console, the JSON Schema of the configuration and the tables of the guides have the texts of its declaration.
import {
  defineFields,
  definePlugin,
  type JsonObject,
  type MembersOf,
  type MemberText,
  member,
  memberGroups,
} from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { jsonSchemaOf } from '../../packages/administration/src/api/json-schema.ts'
import { configurationJsonSchema } from '../../scripts/configuration-schema.ts'
import { startAdministrationServer } from '../console/open-administration.ts'

type Paths = Readonly<
  Record<string, Readonly<Record<string, { readonly requestBody: { readonly content: Record<string, JsonObject> } }>>>
>
type Explained = Readonly<
  Record<string, { readonly title?: string; readonly description?: string; readonly 'x-group'?: string }>
>

const clientMembers = {
  /** The colour of its doors. */
  xColor: member(v.optional(v.string()), { title: 'Colour of doors', text: 'Paints its doors.', group: 'pages' }),
  xPlain: v.optional(v.string()),
}
declare module '@grantry/core' {
  interface ClientMembers extends MembersOf<typeof clientMembers> {}
}
const paint = definePlugin('paint', [defineFields({ client: clientMembers })])

function membersOf(description: Readonly<Record<string, unknown>>, segment: string): Explained {
  const { requestBody } = (description.paths as Paths)[`/v1/${segment}`]?.post ?? {}
  const { schema } = requestBody?.content['application/json'] ?? {}
  return (schema as { readonly properties: Explained }).properties
}

const plugins = [
  { name: 'sign-in', account: {} },
  { name: 'admin', clients: ['ops'] },
  { name: 'client-assertion' },
  { name: 'dpop' },
  { name: 'fapi2' },
]

async function described(more: readonly object[] = []): Promise<Readonly<Record<string, unknown>>> {
  const { server, send } = await startAdministrationServer({ plugins: [...plugins, ...more] })
  try {
    return await send('GET', '/openapi.json')
  } finally {
    await server.close(0)
  }
}

test.each(['clients', 'scopes', 'users'])(
  'explains each member of %s that a server has, in a group, and no secret',
  async (segment) => {
    const members = membersOf(await described(), segment)
    const unexplained = Object.entries(members).filter(
      ([, { title, description, 'x-group': group = '' }]) => !title || !description || !(group in memberGroups),
    )
    expect(unexplained).toEqual([])
    expect(members).not.toHaveProperty('secrets')
    expect(members).toHaveProperty('tags')
    if (segment === 'clients') expect(Object.keys(members)).toEqual(expect.arrayContaining(['clientName', 'profile']))
  },
)

test('a plugin explains its own members in their schemas, too', () => {
  const badge = v.optional(v.pipe(v.string(), v.title('Badge'), v.description('Which badge it shows.')))
  expect(jsonSchemaOf(badge)).toEqual({ type: 'string', title: 'Badge', description: 'Which badge it shows.' })
})

test('whole numbers are integers with bounds, also in the JSON Schema of the configuration', async () => {
  const safe = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
  const xTier = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1)))
  expect(jsonSchemaOf(xTier)).toEqual(safe)
  const { properties } = configurationJsonSchema([definePlugin('tier', [defineFields({ scope: { xTier } })])])
  const { xTier: tier, grantedSince } = (
    properties as { readonly scopes: { readonly items: { readonly properties: Explained } } }
  ).scopes.items.properties
  expect(tier).toEqual(safe)
  expect(grantedSince).toMatchObject({ ...safe, minimum: 0 })
})

const texts = { type: 'array', items: { type: 'string' } }

test.each<[string, v.GenericSchema, JsonObject]>([
  ['after a transformation', v.pipe(v.string(), v.transform(Number), v.minValue(1)), { type: 'string' }],
  ['of a schema in a pipe', v.pipe(v.string(), v.pipe(v.string(), v.minLength(2))), { type: 'string', minLength: 2 }],
  [
    'of some alternatives',
    v.pipe(v.union([v.number(), v.string()]), v.minValue(1)),
    { anyOf: [{ type: 'number', minimum: 1 }, { type: 'string' }] },
  ],
  [
    'of the values of a record',
    v.record(v.string(), v.pipe(v.string(), v.maxLength(9))),
    { type: 'object', additionalProperties: { type: 'string', maxLength: 9 } },
  ],
  ['of a value or null', v.nullable(v.array(v.string()), []), { anyOf: [{ type: 'null' }, texts], default: [] }],
])('describes the checks %s', (_, schema, described) => {
  expect(jsonSchemaOf(schema)).toEqual(described)
})

test('the form suggests no value that is a list', async () => {
  const { membersIn } = await import(new URL('../../packages/console/src/page/entry-members.js', import.meta.url).href)
  const members: ReadonlyMap<string, { readonly fallback?: unknown }> = membersIn(await described(), 'clients')
  expect(members.get('redirectUris')).not.toHaveProperty('fallback')
  expect(members.get('public')).toMatchObject({ fallback: false })
})

describe('a member that a plugin of another project declares', () => {
  const declared = { title: 'Colour of doors', description: 'Paints its doors.' }

  test('has its texts in the API; one that is only a schema has its name', async () => {
    const { xColor, xPlain } = membersOf(await described([paint]), 'clients')
    expect(xColor).toEqual({ type: 'string', ...declared, 'x-group': 'pages' })
    expect(xPlain).toEqual({ type: 'string', title: 'xPlain' })
  })

  test('is in its group of the form, and the other one in the last', async () => {
    const { groupsOf } = await import(new URL('../../packages/console/src/page/entry-members.js', import.meta.url).href)
    const kind = { segment: 'clients', idMember: 'clientId', switchMember: 'enabled' }
    const groups: readonly { title: string; closed: boolean; members: readonly { name: string; label: string }[] }[] =
      groupsOf(kind, await described([paint]), {})
    const labelsOf = (title: string) => groups.find((group) => group.title === title)?.members.map(({ label }) => label)
    expect(labelsOf(memberGroups.pages)).toEqual(expect.arrayContaining(['Color', declared.title]))
    expect(labelsOf('Other members')).toEqual(['xPlain'])
    const titles: readonly string[] = [...Object.values(memberGroups), 'Other members']
    expect(groups.map(({ title }) => title)).toEqual(titles)
    expect(groups.flatMap(({ title, closed }) => (closed ? [] : [title]))).toEqual(titles.slice(0, 3))
  })

  test('has its texts in the JSON Schema of the configuration', () => {
    const { properties } = configurationJsonSchema([paint]) as unknown as {
      readonly properties: Record<string, { readonly items: { readonly properties: Explained } }>
    }
    expect(properties.clients?.items.properties.xColor).toEqual({ type: 'string', ...declared })
    expect(configurationJsonSchema().properties).toMatchObject({
      clients: { items: { properties: { clientColor: { title: 'Color' } } } },
    })
  })

  test.each<[string, object, string]>([
    ['a group that no form has', { group: 'colors' }, 'group must be one of application,'],
    ['a title of two lines', { title: 'Two\nlines' }, 'title must be one line of at most 60 characters'],
    ['no text', { text: '' }, 'text must be one line of at most 500 characters'],
    ['an asynchronous schema', { schema: v.optionalAsync(v.string()) }, 'schema must be a synchronous valibot schema'],
    ['a misspelled text', { tilte: 'Door' }, 'tilte is not a known member; did you mean title?'],
  ])('is refused with %s', async (_, wrong, problem) => {
    const text: MemberText = { title: 'Door', text: 'A door.', group: 'pages' }
    const door = { ...member(v.optional(v.string()), text), ...wrong }
    const plugin = definePlugin('paint', [defineFields({ client: { door } })])
    await expect(described([plugin])).rejects.toThrow(problem)
  })
})
