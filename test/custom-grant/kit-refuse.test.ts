import {
  defineClientAuthentication,
  defineEndpoint,
  defineFields,
  defineGrant,
  defineGrantCheck,
  definePlugin,
  defineTokenBinding,
  type Kit,
  type RefusalFacts,
} from '@grantry/core'
import { basic, createTestProvider, read, type TestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:gate'
const form = { grant_type: grantType, scope: 'api1' }

const refused = (kit: Kit) => kit.refuse('access_denied', 'The gate is closed', 'gate_closed')

/** Refuses in the part that the request names in `closed`. */
function gate(kit: Kit, part: string, closed: string | null | undefined): undefined {
  if (closed === part) throw refused(kit)
  return undefined
}

const grant = defineGrant({
  grantType,
  params: v.object({ closed: v.optional(v.string()) }),
  handle({ params: { closed }, scopes }, kit) {
    gate(kit, 'grant', closed)
    return { scopes }
  },
})

const gates = definePlugin('gates', [
  grant,
  offerKit('gates'),
  defineEndpoint({
    name: 'gate',
    path: '/connect/gate',
    methods: ['POST'],
    caller: 'anyone',
    handle: (_call, kit) => ({ html: '<p>Closed</p>', error: refused(kit) }),
  }),
  defineTokenBinding({
    member: 'gate',
    prove: ({ header }, kit) => gate(kit, 'binding', header('gate')),
    admit: ({ header }, kit) => gate(kit, 'admission', header('gate')),
  }),
])

const checks = definePlugin('gate-checks', [
  defineGrantCheck({
    grantTypes: [grantType],
    params: v.object({ closed: v.optional(v.string()) }),
    check: ({ params: { closed } }, kit) => gate(kit, 'check', closed),
  }),
])

const badges = definePlugin('badges', [
  defineClientAuthentication({
    method: 'badge',
    consumes: ['badge'],
    present({ badge }, _request, kit) {
      if (badge === 'torn') throw kit.refuse('invalid_client', 'The badge is torn', 'badge_torn')
      if (badge === 'copy') return { clientId: 'test-client', malformed: 'badge_copied' }
      return badge === undefined ? undefined : { clientId: badge }
    },
    accepts: () => true,
    verify: (_presented, _client, kit) => Promise.reject(kit.refuse('access_denied', 'No', 'badge_lost')),
  }),
])

const start = () => createTestProvider({ plugins: [gates, checks, badges] })

async function send({ provider }: TestProvider, more: Record<string, string>, headers: Record<string, string>) {
  const all = { authorization: basic(testClient), ...headers }
  const body = new URLSearchParams({ ...form, ...more })
  return read(
    await provider.fetch(new Request(`${provider.issuer}/connect/token`, { method: 'POST', body, headers: all })),
  )
}

describe('the reason of a refusal has the name of the plugin', () => {
  test.each([
    ['a grant', { closed: 'grant' }, {}, 'plugin:gates:gate_closed'],
    ['a grant check of another plugin', { closed: 'check' }, {}, 'plugin:gate-checks:gate_closed'],
    ['a token binding', {}, { gate: 'binding' }, 'plugin:gates:gate_closed'],
    ['a token binding, before the client is authenticated', {}, { gate: 'admission' }, 'plugin:gates:gate_closed'],
  ])('in %s', async (_, more, headers, reason) => {
    const f = await start()
    const { status, body } = await send(f, more, headers)
    expect([status, body]).toEqual([400, { error: 'access_denied', error_description: 'The gate is closed' }])
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason })
  })

  test.each([
    ['torn', 401, 'plugin:badges:badge_torn'],
    ['copy', 401, 'plugin:badges:badge_copied'],
    ['test-client', 400, 'plugin:badges:badge_lost'],
  ])('in a method of client authentication: %s', async (badge, expected, reason) => {
    const { post, events } = await start()
    expect((await post('token', { ...form, badge })).status).toBe(expected)
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason })
  })

  test('in the reply of an endpoint, and in functions for the host', async () => {
    const { post, provider, events } = await start()
    expect((await post('gate', {})).status).toBe(400)
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'plugin:gates:gate_closed' })
    expect(refused(kitOf(provider, 'gates')).details.reason).toBe('plugin:gates:gate_closed')
  })

  test('in a grant alone, whose name is its grant type', async () => {
    const { post, events } = await createTestProvider({ plugins: [grant] })
    await post('token', { ...form, closed: 'grant' }, testClient)
    expect(events.at(-1)).toMatchObject({ reason: `plugin:${grantType}:gate_closed` })
  })

  test('in a warning at startup', async () => {
    const check = () => [{ where: 'plugins', reason: 'The gate is open' }]
    const rule = { id: 'gate-open', severity: 'warning', remedy: 'close it', source: 'x', at: 'start', check } as const
    const { events } = await createTestProvider({
      plugins: [grant, definePlugin('gates', [defineFields({ rules: [rule] })])],
    })
    expect(events).toContainEqual(expect.objectContaining({ reason: 'plugin:gates:gate_open' }))
  })
})

describe('a refusal', () => {
  const refusing = (reason: string, facts?: RefusalFacts) =>
    createTestProvider({
      plugins: definePlugin('gates', [
        testGrant({
          grantType,
          handle(_request, { refuse }) {
            throw refuse('slow_down', 'Wait', reason, facts)
          },
        }),
      ]),
    })

  test('has the facts, which cannot replace the reason', async () => {
    const facts = { status: 429, retryAfter: 7, detail: 'ten in a minute', reason: 'other' } as const
    const { post, events } = await refusing('too_many', facts)
    const { status, headers } = await post('token', form, testClient)
    expect([status, headers.get('retry-after')]).toEqual([429, '7'])
    expect(events.at(-1)).toMatchObject({ reason: 'plugin:gates:too_many', detail: 'ten in a minute' })
  })

  test.each([
    ['the prefix', 'plugin:gates:too_many'],
    ['a sentence', 'Too many attempts'],
    ['hyphens', 'too-many'],
    ['51 characters', 'x'.repeat(51)],
    ['nothing', ''],
    ['no text', undefined as unknown as string],
    ['a text that converts to one', ['too_many'] as unknown as string],
  ])('with %s as its reason is a defect, which the operator sees without the text', async (_, reason) => {
    const { post } = await refusing(reason)
    const { status, body, failure } = await post('token', form, testClient)
    expect([status, body]).toEqual([500, { error: 'server_error' }])
    expect(failure).toBeInstanceOf(TypeError)
    const { message } = failure as TypeError
    expect(message).toBe(
      'A reason of the plugin gates must be at most 50 lower-case letters, digits and _, without the name of the plugin',
    )
  })
})
