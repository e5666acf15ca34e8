// The description of the API is the only place that explains the members of entries: the forms of the console and the
// guide show its texts.
import { readFileSync } from 'node:fs'
import type { JsonObject } from '@grantry/core'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { convert } from '../../packages/administration/src/api/json-schema.ts'
import { clientTexts, scopeTexts, userTexts } from '../../packages/administration/src/kinds/member-texts.ts'
import { startAdministrationServer } from '../console/open-administration.ts'

type Paths = Readonly<
  Record<string, Readonly<Record<string, { readonly requestBody: { readonly content: Record<string, JsonObject> } }>>>
>
type Explained = Readonly<Record<string, { readonly title?: string; readonly description?: string }>>

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

test.each(['clients', 'scopes', 'users'])(
  'explains each member of %s that a server has, and no secret',
  async (segment) => {
    const { server, send } = await startAdministrationServer({ plugins })
    try {
      const members = membersOf(await send('GET', '/openapi.json'), segment)
      const unexplained = Object.entries(members).filter(([, { title, description }]) => !title || !description)
      expect(unexplained).toEqual([])
      expect(members).not.toHaveProperty('secrets')
      expect(members).toHaveProperty('tags')
      if (segment === 'clients') expect(Object.keys(members)).toEqual(expect.arrayContaining(['clientName', 'profile']))
    } finally {
      await server.close(0)
    }
  },
)

test('a plugin explains its own members', () => {
  const member = v.optional(v.pipe(v.string(), v.title('Badge'), v.description('Which badge it shows.')))
  expect(convert(member)).toEqual({ type: 'string', title: 'Badge', description: 'Which badge it shows.' })
})

test('the guide has the same labels and explanations', () => {
  const guide = readFileSync(new URL('../../docs/guides/console.md', import.meta.url), 'utf8')
  const rows = Object.entries({ clients: clientTexts, scopes: scopeTexts, users: userTexts }).flatMap(([kind, texts]) =>
    Object.entries(texts).map(
      ([name, { title, description }]) => `| \`${kind}[].${name}\` | ${title} | ${description} |`,
    ),
  )
  expect(guide.split('\n').filter((line) => /^\| `(?:clients|scopes|users)\[\]/u.test(line))).toEqual(rows)
})
