// The API is called by its own description: each operation with input that fits its schemas, and with hostile input. Every
// response is a success that the description names, or a problem; never a 500. What is refused leaves nothing.
import type { JsonObject } from '@grantry/core'
import { expect, test } from 'vitest'
import { createRandom } from '../support/random.ts'
import { batch, setting } from './setting.ts'

type Described = {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: JsonObject }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonObject }>> }
  readonly responses: Readonly<Record<string, unknown>>
}

const rounds = 12
/** Rounds continue until each operation has succeeded once; a few more are usual. */
const mostRounds = 150

const hostileTexts = [
  '',
  ' ',
  '..',
  '../clients',
  '%2e%2e',
  'a/b',
  '\u0000',
  'a\r\nx: y',
  '"><script>',
  '$(reboot)',
  "' OR 1=1 --",
  '__proto__',
  'constructor',
  'openapi.json',
  'caf\u00e9\u202e',
  'a'.repeat(101),
  'x'.repeat(3000),
]
const hostileValues: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  0.5,
  [],
  {},
  [[]],
  [null],
  '\ud800',
  { constructor: {}, toString: 1 },
  Array.from({ length: 300 }, () => 'a'),
  { a: { b: { c: { d: [1, { e: null }] } } } },
]

test('each operation refuses wrong and hostile input with a problem', async () => {
  const f = await setting({
    more: { requestsPerMinute: 1_000_000, requestsPerMinutePerAddress: 1_000_000 },
    host: {
      users: {
        inStorage: true,
        find: async (sub) => [{ sub, active: true, claims: {}, from: 'storage' }],
      },
      sessions: {
        list: async (sub) => [{ sid: sub, subject: { amr: ['pwd'], authTime: 1 }, startedAt: 1, expiresAt: 2 }],
        end: async () => true,
        endAll: async () => 1,
      },
      consents: {
        list: async (sub) => [{ clientId: sub, scopes: ['openid'], claims: [] }],
        revoke: async () => true,
      },
      authorizations: {
        list: async (sub) => [
          { family: sub, clientId: 'app', scopes: ['openid'], audiences: [], startedAt: 1, expiresAt: 2 },
        ],
      },
      invitations: {
        newId: () => 'i',
        invite: async ({ email }) => ({ id: 'i', email, claims: {}, invitedAt: 1, expiresAt: 2 }),
        list: async () => [],
        withdraw: async () => true,
      },
      secondFactors: { withoutReset: [], reset: async () => {} },
    },
  })
  const random = createRandom(28)
  const succeeded = new Set<string>()
  /** The newest changes. The trail is read by one page, which loses old ones when many rounds are needed. */
  const newest = async () => (await f.trail()).slice(0, 20)
  let known = await newest()
  /** The `sub` of a user who was removed is never used again. */
  let idOfRound = ''
  const { body: description } = await f.send('GET', '/openapi.json')
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)] as T

  function fitting(schema: JsonObject): unknown {
    if (Array.isArray(schema.enum)) return pick(schema.enum)
    if (schema.type === 'boolean') return pick([true, false])
    if (schema.type === 'integer' || schema.type === 'number') return random.below(1000)
    if (schema.type === 'array') return [fitting((schema.items ?? {}) as JsonObject)]
    if (schema.type === 'object') return objectFor(schema, fitting)
    const isLong = Number(schema.minLength ?? 0) > 5
    return isLong
      ? 'a long password'
      : pick(['a', 'batch', 'web', '1', 'client_credentials', 'https://a.example.com/cb'])
  }
  function objectFor(schema: JsonObject, valueFor: (schema: JsonObject) => unknown): object {
    const { properties = {}, required = [] } = schema as { properties?: JsonObject; required?: string[] }
    const chosen = Object.entries(properties).filter(([name]) => required.includes(name) || random.below(30) === 0)
    return Object.fromEntries(chosen.map(([name, of]) => [name, valueFor(of as JsonObject)]))
  }
  const anything = (schema: JsonObject): unknown =>
    random.below(3) === 0 ? fitting(schema) : pick([...hostileValues, ...hostileTexts])

  const hostileHeaders = (): Readonly<Record<string, string>> =>
    pick([
      { 'if-match': pick(['*', 'W/"a"', '"a", "b"', 'a', '"', '']) },
      { 'idempotency-key': pick(['"a"', 'b', '"', 'a b', 'x'.repeat(300)]) },
      { accept: pick(['*/*', 'text/html', 'application/json;q=0', ',,;']) },
      { 'content-type': pick(['text/plain', 'application/x-www-form-urlencoded', 'application/json-patch+json']) },
    ])

  async function call(path: string, method: string, { parameters, requestBody, responses }: Described): Promise<void> {
    const valueFor = pick([fitting, fitting, anything])
    const asText = (schema: JsonObject): string => {
      const value = valueFor(schema)
      return typeof value === 'string' ? value : JSON.stringify(value)
    }
    const encode = (text: string): string => pick([encodeURIComponent, String])(text)
    const url = path
      .slice('/v1'.length)
      .replaceAll(/\{\w+\}/gu, () => (random.below(4) > 0 ? idOfRound : encode(pick(hostileTexts))))
    const query = parameters.flatMap(({ name, in: where, schema }) =>
      where === 'query' && random.below(2) === 0
        ? [`${name}=${encodeURIComponent(asText(schema).replaceAll('\ud800', '?'))}`]
        : [],
    )
    const present =
      (await f.send('GET', url.replace(/\/(?:password|rotate-secret)$/u, ''))).headers.get('etag') ?? '"x"'
    const [type, content] = pick(Object.entries(requestBody?.content ?? {})) ?? []
    const body =
      content === undefined
        ? undefined
        : pick([
            () => objectFor(content.schema, valueFor),
            () => ({ ...objectFor(content.schema, anything), version: 'x', [pick(hostileTexts)]: pick(hostileValues) }),
            () => pick(['', '{', '[]', '"a"', '1', '{"a":1,"a":2}', '\ufeff{}']),
          ])()
    const isClean = random.below(2) === 0
    const plain = { 'if-match': present, ...(type !== undefined && { 'content-type': type }) }
    const headers = isClean ? plain : { ...plain, ...hostileHeaders() }
    const response = await f.send(method.toUpperCase(), `${url}${query.length > 0 ? `?${query.join('&')}` : ''}`, {
      body,
      headers,
    })
    const what = JSON.stringify([method, url, query, body, headers, response.status, response.body])
    expect(response.status, what).toBeLessThan(500)
    if (response.status < 400) {
      succeeded.add(`${method} ${path}`)
      known = await newest()
      expect(Object.keys(responses), what).toContain(String(response.status))
    } else {
      expect(response.headers.get('content-type'), what).toBe('application/problem+json')
      expect(response.body, what).toMatchObject({ title: expect.any(String), status: response.status })
      expect(await newest(), what).toEqual(known)
    }
    expect(response.headers.get('cache-control')).toBe('no-store')
  }

  // The keys of this provider are fixed.
  const never = ['post /v1/keys/rotate', 'post /v1/keys/{kid}/retire']
  const all = Object.entries<object>(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  )
  const operations = Object.entries<Record<string, Described>>(description.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [path, method, operation] as const),
    )
    // What the others need is removed at the end of a round.
    .sort(([, left], [, right]) => Number(left === 'delete') - Number(right === 'delete'))
  const missing = () => all.filter((each) => !succeeded.has(each) && !never.includes(each))

  for (let round = 0; round < rounds || (missing().length > 0 && round < mostRounds); round += 1) {
    idOfRound = `round${round}`
    await f.send('POST', '/clients', { body: { ...batch, clientId: idOfRound } })
    await f.send('POST', '/scopes', { body: { name: idOfRound } })
    await f.send('POST', '/users', { body: { sub: idOfRound, username: idOfRound } })
    await f.send('POST', '/tenants', { body: { name: idOfRound } })
    known = await newest()
    for (const [path, method, operation] of operations) await call(path, method, operation)
  }
  expect(missing()).toEqual([])
  const causes = f.events.flatMap((event) => (event.type === 'unhandled_failure' ? [JSON.stringify(event)] : []))
  expect(causes).toEqual([])
})
