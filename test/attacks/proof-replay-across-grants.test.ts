/**
 * Attack: a single-use proof, such as the `jti` of an assertion, is presented again, with another grant type. If a
 * check keeps its state in the records of the grant, it accepts the proof once for each grant type. Also, a grant of
 * another author reads or deletes the state of the check.
 *
 * RFC 7523 section 3 and RFC 9449 section 11.1: single use applies to the proof, wherever it is presented. A check has
 * its own records.
 */
import { defineGrantCheck, definePlugin, type GrantKit, OAuthError } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider, type TestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { testGrant } from '../support/test-grant.ts'

declare module '@grantry/core' {
  interface Demands {
    assertion: { readonly issuer: string }
  }
}

const grantTypes = ['urn:example:a', 'urn:example:b']

const grant = (grantType: string, handle: (kit: GrantKit) => Promise<unknown> = async () => undefined) =>
  testGrant({
    grantType,
    async handle({ scopes }, kit) {
      await handle(kit)
      return { scopes }
    },
  })

const check = defineGrantCheck({
  settles: 'assertion',
  grantTypes,
  params: v.object({ jti: v.string() }),
  async check({ params: { jti } }, kit) {
    if (await kit.records.insert(jti, true, kit.now() + 60)) return
    throw new OAuthError('invalid_grant', 'The assertion is not valid', { reason: 'plugin:assertion:replayed' })
  },
})

const assertion = definePlugin('assertion', [check])

const present = (f: TestProvider, grantType: string, jti: string) =>
  f.post('token', { grant_type: grantType, scope: 'api1', jti }, testClient)

test('a proof used with one grant type is rejected with the other', async () => {
  const f = await createTestProvider({ plugins: [assertion, ...grantTypes.map((name) => grant(name))] })
  expect((await present(f, 'urn:example:a', 'one')).status).toBe(200)
  for (const grantType of grantTypes) {
    const { status, body } = await present(f, grantType, 'one')
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'plugin:assertion:replayed' })
  }
  expect((await present(f, 'urn:example:b', 'two')).status).toBe(200)
})

test('of many concurrent requests with one proof, over both grant types, one succeeds', async () => {
  const f = await createTestProvider({
    plugins: [assertion, ...grantTypes.map((name) => grant(name))],
    storage: withLatency(memoryDriver()),
  })
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) => present(f, grantTypes[index % 2] ?? '', 'one')),
  )
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
})

test('no grant reads, replaces or deletes the records of a check, not even one with the name of its kind', async () => {
  const seen: unknown[] = []
  const meddle = async (kit: GrantKit) => {
    seen.push(await kit.records.get('one', v.unknown()))
    await kit.records.delete('one')
    await kit.records.put('one', 'mine', kit.now() + 60)
    seen.push(await kit.records.get('one', v.unknown()))
  }
  const names = ['grant-check', 'urn:example:a']
  const everywhere = definePlugin('assertion', [{ ...check, grantTypes: names }])
  const f = await createTestProvider({ plugins: [everywhere, ...names.map((name) => grant(name, meddle))] })
  expect((await present(f, 'urn:example:a', 'one')).status).toBe(200)
  for (const name of names) {
    expect((await present(f, name, 'one')).body.error).toBe('invalid_grant')
  }
  expect(seen.filter((value) => value !== 'mine' && value !== undefined)).toEqual([])
})
