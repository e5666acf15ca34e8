import { definePlugin, defineTokenBinding, type GrantKit } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:held'

/** Proves the key that the request names in a header. */
const binding = defineTokenBinding({
  member: 'jkt',
  prove({ header }) {
    const key = header('proves')
    return key === null ? undefined : { key }
  },
})

/** The response to a grant that calls the kit, and the reason of its refusal. */
async function outcome(call: (kit: GrantKit) => void, proves?: string, more: object = {}) {
  const grant = testGrant({
    grantType,
    refusal: 'The card is not valid',
    handle({ scopes }, kit) {
      call(kit)
      return { scopes }
    },
    ...more,
  })
  const { provider, events } = await createTestProvider({ plugins: [definePlugin('cards', [grant, binding])] })
  const [id, secret] = testClient
  const response = await provider.fetch(
    new Request(`${provider.issuer}/connect/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: grantType, scope: 'api1', client_id: id, client_secret: secret }),
      headers: proves === undefined ? {} : { proves },
    }),
  )
  const { error, error_description: text } = await response.json()
  const last = events.at(-1)
  return { status: response.status, error, text, reason: last?.type === 'endpoint_failed' ? last.reason : undefined }
}

const refused = { status: 400, error: 'invalid_grant', text: 'The card is not valid' }
const accepted = { status: 200, error: undefined, text: undefined, reason: undefined }

describe('assertClient', () => {
  test('accepts what was issued to the client', async () => {
    expect(await outcome((kit) => kit.assertClient(testClient[0]))).toEqual(accepted)
  })

  test.each([
    ['another client', 'other'],
    ['no client, because a member is misspelled', undefined as unknown as string],
  ])('refuses what was issued to %s', async (_, clientId) => {
    expect(await outcome((kit) => kit.assertClient(clientId))).toEqual({ ...refused, reason: 'client_mismatch' })
  })

  test('has the error code of the grant', async () => {
    const call = (kit: GrantKit) => kit.assertClient('other')
    expect(await outcome(call, undefined, { refusalCode: 'invalid_request' })).toMatchObject({
      error: 'invalid_request',
    })
  })
})

describe('assertKeys', () => {
  test.each<[string, unknown, string | undefined]>([
    ['is bound to no key', undefined, undefined],
    ['is bound to no key, with a proof', undefined, 'mine'],
    ['is bound to the key', { jkt: 'mine' }, 'mine'],
  ])('accepts what %s', async (_, cnf, proves) => {
    expect(await outcome((kit) => kit.assertKeys(cnf), proves)).toEqual(accepted)
  })

  test.each<[string, unknown, string | undefined, string]>([
    ['without a proof', { jkt: 'mine' }, undefined, 'proof_missing'],
    ['with another key', { jkt: 'mine' }, 'other', 'wrong_key'],
    ['with one of two keys', { jkt: 'mine', 'x5t#S256': 'certificate' }, 'mine', 'wrong_key'],
    ['that is not an object', 'mine', 'mine', 'wrong_key'],
    ['that is null', null, 'mine', 'wrong_key'],
    ['that names no key', {}, 'mine', 'wrong_key'],
    ['in a list', ['mine'], 'mine', 'wrong_key'],
    ['that is a member of every object', { constructor: 'mine' }, 'mine', 'wrong_key'],
  ])('refuses a confirmation %s', async (_, cnf, proves, reason) => {
    expect(await outcome((kit) => kit.assertKeys(cnf), proves)).toEqual({ ...refused, reason })
  })
})
