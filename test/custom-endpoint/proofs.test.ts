import { type Confirmation, defineEndpoint, definePlugin } from '@grantry/core'
import { dpop as builtInDpop } from '@grantry/plugins/dpop'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { callUserinfo, requestTokens, sendForm } from '../bindings/send.ts'
import { dpop, keyHolder } from '../dpop/dpop.ts'
import { holder } from '../dpop/parties.ts'
import { builtInPlugins, fixture, web } from '../support/fixture.ts'

const seen: (Confirmation | undefined)[] = []
const parts = { methods: ['POST'], params: v.object({}) } as const
const plugins = [
  builtInPlugins,
  dpop(),
  definePlugin('pushed', [
    defineEndpoint({
      ...parts,
      name: 'pushed',
      path: '/connect/pushed',
      caller: 'client',
      readsProofs: true,
      handle({ confirmation }) {
        seen.push(confirmation)
        return { json: { expires_in: 60 } }
      },
    }),
    defineEndpoint({
      ...parts,
      name: 'unaware',
      path: '/connect/unaware',
      caller: 'client',
      handle({ confirmation }) {
        seen.push(confirmation)
        return { json: {} }
      },
    }),
    defineEndpoint({
      ...parts,
      name: 'account',
      path: '/connect/account',
      caller: 'token',
      scope: 'api1',
      handle({ confirmation }) {
        seen.push(confirmation)
        return { json: {} }
      },
    }),
  ]),
]

describe('an endpoint of a plugin', () => {
  test('receives the key that a client has proved, and sends the headers of the binding', async () => {
    const [f, key] = [await fixture({ plugins }), await keyHolder()]
    const { status, headers } = await sendForm(f, '/connect/pushed', {}, { as: web, key })
    expect([status, headers.get('dpop-nonce'), seen.pop()]).toEqual([200, 'next', { jkt: key.thumbprint }])
    expect((await sendForm(f, '/connect/pushed', {}, { as: web })).status).toBe(200)
    expect(seen.pop()).toBeUndefined()
  })

  test('refuses an invalid proof', async () => {
    const f = await fixture({ plugins })
    const { status, body } = await sendForm(f, '/connect/pushed', {}, { as: web, headers: { dpop: 'forged' } })
    expect([status, body.error]).toEqual([400, 'invalid_dpop_proof'])
  })

  test.each([
    [true, 1],
    ['before_reply', 2],
  ] as const)('with readsProofs %s answers a proof once, and handles it %i times', async (readsProofs, times) => {
    let handled = 0
    const endpoint = defineEndpoint({
      ...parts,
      name: 'once',
      path: '/connect/once',
      caller: 'client',
      readsProofs,
      handle() {
        handled += 1
        return { json: {} }
      },
    })
    const f = await fixture({ plugins: [builtInPlugins, builtInDpop(), definePlugin('own', [endpoint])] })
    const dpop = await (await holder()).prove({ htu: 'https://id.example.com/connect/once' })
    expect((await sendForm(f, '/connect/once', {}, { as: web, headers: { dpop } })).status).toBe(200)
    const again = await sendForm(f, '/connect/once', {}, { as: web, headers: { dpop } })
    expect([again.status, again.body.error, handled]).toEqual([400, 'invalid_dpop_proof', times])
  })

  test('without readsProofs ignores proofs', async () => {
    const f = await fixture({ plugins })
    const { status } = await sendForm(f, '/connect/unaware', {}, { as: web, headers: { dpop: 'forged' } })
    expect([status, seen.pop()]).toEqual([200, undefined])
  })

  test('that accepts access tokens requires the proof of a bound one', async () => {
    const [f, key] = [await fixture({ plugins }), await keyHolder()]
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    const { body } = await requestTokens(f, form, { as: web, key })
    const url = 'https://id.example.com/connect/account'
    const headersWith = async (): Promise<Record<string, string>> => ({
      authorization: `DPoP ${body.access_token}`,
      dpop: await key.proof({ method: 'POST', url, token: body.access_token, at: f.clock.now() }),
    })
    const accepted = await sendForm(f, '/connect/account', {}, { headers: await headersWith() })
    expect([accepted.status, seen.pop()]).toEqual([200, { jkt: key.thumbprint }])
    const { dpop: _, ...unproved } = await headersWith()
    expect((await sendForm(f, '/connect/account', {}, { headers: unproved })).status).toBe(401)
    // A proof for another endpoint.
    const otherHeaders = await headersWith()
    expect((await callUserinfo(f, body.access_token, { headers: { dpop: otherHeaders.dpop ?? '' } })).status).toBe(401)
  })
})

test('readsProofs is refused at startup for other callers', async () => {
  const endpoint = defineEndpoint({
    name: 'open',
    path: '/open',
    methods: ['GET'],
    caller: 'anyone',
    readsProofs: true,
    handle: () => ({ json: {} }),
  })
  await expect(fixture({ plugins: [builtInPlugins, definePlugin('a', [endpoint])] })).rejects.toThrow(
    'plugins: the endpoint open of a has readsProofs, which belongs to the caller client',
  )
})
