/** The parameters and records of plugins can be described with any library that implements Standard Schema. */
import { defineEndpoint, defineGrant, definePlugin, type Schema, sealing } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { kitOf, kitPlugin } from '../support/kit-of.ts'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:badge'

const schemas = {
  valibot: v.object({ badge_id: v.pipe(v.string(), v.regex(/^\d{6}$/u, 'must be six digits')) }),
  'asynchronous valibot': v.objectAsync({
    badge_id: v.pipeAsync(
      v.string(),
      v.checkAsync(async (id) => /^\d{6}$/u.test(id), 'must be six digits'),
    ),
  }),
  zod: z.object({ badge_id: z.string().regex(/^\d{6}$/u, 'must be six digits') }),
  arktype: type({ badge_id: '/^[0-9]{6}$/' }),
} satisfies Record<string, Schema<{ badge_id: string }>>

async function setUp(params: Schema<{ badge_id: string }>) {
  const seen: unknown[] = []
  const grant = defineGrant({
    grantType,
    params,
    handle({ params: { badge_id }, scopes }) {
      seen.push(badge_id)
      return { scopes }
    },
  })
  const endpoint = defineEndpoint({
    name: 'badge',
    path: '/connect/badge',
    methods: ['POST'],
    caller: 'client',
    params,
    handle: ({ params: { badge_id } }) => ({ json: { badge_id } }),
  })
  const f = await createTestProvider({ plugins: definePlugin('badge', [grant, endpoint]) })
  return { ...f, seen }
}

describe.each(Object.entries(schemas))('parameters described with %s', (_, params) => {
  test('reach the grant and the endpoint', async () => {
    const { post, seen } = await setUp(params)
    const form = { grant_type: grantType, scope: 'api1', badge_id: '123456', other: 'ignored' }
    expect((await post('token', form, testClient)).status).toBe(200)
    expect(seen).toEqual(['123456'])
    expect((await post('badge', { badge_id: '123456' }, testClient)).body).toEqual({ badge_id: '123456' })
  })

  test('are refused by their name if they are missing or malformed', async () => {
    const { post, seen } = await setUp(params)
    for (const [form, text, reason] of [
      [{}, 'The parameter badge_id is required', 'parameter_missing'],
      [{ badge_id: '12345' }, 'The parameter badge_id is malformed', 'parameter_malformed'],
    ] as const) {
      const body = { error: 'invalid_request', error_description: text }
      const token = await post('token', { grant_type: grantType, scope: 'api1', ...form }, testClient)
      expect([token.status, token.body, token.failure]).toEqual([400, body, reason])
      const refused = await post('badge', form, testClient)
      expect([refused.status, refused.body, refused.failure]).toEqual([400, body, reason])
    }
    expect(seen).toEqual([])
  })

  test('keep the secret of the client to the core', async () => {
    const { post } = await setUp(params)
    const [client_id, client_secret] = testClient
    const form = { grant_type: grantType, scope: 'api1', badge_id: '123456', client_id, client_secret }
    expect((await post('token', form)).status).toBe(200)
  })
})

describe('the message of a schema', () => {
  const refused = async (params: Schema<{ badge_id: string }>, badge_id: string) => {
    const { post, events } = await setUp(params)
    const { body } = await post('token', { grant_type: grantType, scope: 'api1', badge_id }, testClient)
    expect(JSON.stringify(body)).not.toContain('six digits')
    return events.find(({ type }) => type === 'endpoint_failed')
  }

  test.each(['valibot', 'zod', 'asynchronous valibot'] as const)('reaches the operator: %s', async (library) => {
    expect(await refused(schemas[library], '12345')).toMatchObject({ detail: 'must be six digits' })
  })

  // Attack: a secret in the wrong parameter, or a password that does not match a rule, must not reach the log.
  test.each([
    ['arktype', schemas.arktype],
    ['valibot', v.object({ badge_id: v.picklist(['a', 'b']) })],
    [
      'zod',
      z.object({ badge_id: z.string().refine(() => false, { error: ({ input }) => `${String(input)} is wrong` }) }),
    ],
    [
      'one that cuts the value off',
      z.object({
        badge_id: z.string().refine(() => false, { error: ({ input }) => `${String(input).slice(0, 8)}... is wrong` }),
      }),
    ],
  ])('never contains a value of the request: %s', async (_, params) => {
    const event = await refused(params as Schema<{ badge_id: string }>, 'correct horse battery')
    expect(event).toMatchObject({ reason: 'parameter_malformed' })
    expect(JSON.stringify(event)).not.toContain('correct')
  })
})

test('a retry ignores parameters that a zod schema does not declare, and every one counts for arktype', async () => {
  for (const [params, isRetry] of [
    [z.object({ refresh_token: z.string() }), true],
    [z.object({ refresh_token: z.string() }).transform((params) => params), true],
    [z.union([z.object({ refresh_token: z.string() }), z.object({ other: z.string() })]), true],
    [z.union([z.object({ refresh_token: z.string() }), z.looseObject({})]), false],
    [type({ refresh_token: 'string' }), false],
  ] as const) {
    const grant = defineGrant({
      grantType: 'refresh_token',
      params: params as Schema<{ refresh_token: string }>,
      scope: 'optional',
      stored: { kind: 'refresh' },
      async handle({ params: { refresh_token } }, kit) {
        const stored = await kit.findGrant('refresh', refresh_token)
        if (stored === undefined) throw new Error('The token is unknown')
        return { subject: stored.subject, scopes: stored.scopes, redeems: [stored] }
      },
    })
    const login = testGrant({
      grantType: 'urn:example:login',
      handle: ({ scopes }) => ({ subject: { sub: 'alice', amr: ['pwd'] }, scopes }),
    })
    const { post } = await createTestProvider({ plugins: [grant, login] })
    const first = await post('token', { grant_type: 'urn:example:login', scope: 'offline_access api1' }, testClient)
    const form = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token }
    expect((await post('token', form, testClient)).status).toBe(200)
    expect((await post('token', { ...form, extra: '1' }, testClient)).status).toBe(isRetry ? 200 : 400)
  }
})

test('records can be read with any schema', async () => {
  const { provider } = await createTestProvider({ plugins: [kitPlugin('shelf'), sealing] })
  const kit = kitOf(provider, 'shelf')
  await kit.records.put('a', { step: 1 }, kit.now() + 60)
  const wrong = [v.object({ step: v.string() }), z.object({ step: z.string() }), type({ step: 'string' })]
  const right = [v.object({ step: v.number() }), z.object({ step: z.number() }), type({ step: 'number' })]
  for (const schema of right) expect(await kit.records.get('a', schema as Schema)).toEqual({ step: 1 })
  for (const schema of wrong) expect(await kit.records.get('a', schema as Schema)).toBeUndefined()
  const sealed = await kit.seal({ step: 1 }, kit.now() + 60)
  for (const schema of right) expect(await kit.unseal(sealed, schema as Schema)).toEqual({ step: 1 })
  for (const schema of wrong) expect(await kit.unseal(sealed, schema as Schema)).toBeUndefined()
})

test('the type of params is that of the schema, whatever the library', () => {
  defineGrant({
    grantType,
    params: z.object({ count: z.coerce.number() }),
    handle({ params, scopes }) {
      expectTypeOf(params).toEqualTypeOf<{ count: number }>()
      return { scopes }
    },
  })
  defineGrant({
    grantType,
    params: type({ badge_id: 'string' }),
    handle({ params, scopes }) {
      expectTypeOf(params).toEqualTypeOf<{ badge_id: string }>()
      return { scopes }
    },
  })
})
