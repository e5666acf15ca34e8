// A plugin receives only its own parameters of a request: neither the client's secret nor the parameters of the core.
import { defineGrant, type GrantRequest } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

const grantType = 'urn:example:curious'
const [clientId, secret] = testClient
const credentials = { client_id: clientId, client_secret: secret }

/** A grant with these params that records what it receives. */
async function curious<S extends v.GenericSchema>(params: S) {
  const seen: GrantRequest<unknown>[] = []
  const grant = defineGrant({
    grantType,
    params,
    handle(request) {
      seen.push(request)
      return { scopes: request.scopes }
    },
  })
  return { ...(await createTestProvider({ plugins: grant })), seen }
}

describe('the parameters of a grant', () => {
  test.each([
    ['by Basic', testClient, {}],
    ['in the form', undefined, credentials],
    ['by Basic beside client_id', testClient, { client_id: clientId }],
  ] as const)('never include parameters of the core: credentials %s', async (_, as, inForm) => {
    const { post, seen } = await curious(v.looseObject({}))
    const { status } = await post('token', { grant_type: grantType, scope: 'api1', badge: '7', ...inForm }, as)
    expect(status).toBe(200)
    expect(seen).toHaveLength(1)
    expect(Object.entries(seen[0]?.params ?? {})).toEqual([['badge', '7']])
    expect(JSON.stringify(seen[0]?.params)).not.toContain(secret)
  })

  test('may be a strict object: parameters of the core do not fail it, unknown ones do', async () => {
    const { post } = await curious(v.strictObject({ a: v.string() }))
    const form = { grant_type: grantType, scope: 'api1', a: '1' }
    expect((await post('token', form, testClient)).status).toBe(200)
    expect((await post('token', { ...form, ...credentials })).status).toBe(200)
    const { status, body } = await post('token', { ...form, b: '2' }, testClient)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
  })

  test.each(['authorization', 'Authorization', 'AUTHORIZATION'])('does not expose the header %s', async (name) => {
    const { post, seen } = await curious(v.object({}))
    await post('token', { grant_type: grantType, scope: 'api1' }, testClient)
    expect(seen[0]?.request.header(name)).toBeNull()
    expect(seen[0]?.request.header('Content-Type')).toContain('application/x-www-form-urlencoded')
  })

  test.each(['scope', 'client_id', 'client_secret', 'grant_type'])(
    '%s among them is rejected at start',
    async (name) => {
      for (const params of [v.object({ [name]: v.string() }), v.strictObject({ [name]: v.optional(v.string()) })]) {
        await expect(curious(params)).rejects.toThrow(new RegExp(`^plugins: .*${grantType}.* ${name} `, 'u'))
      }
    },
  )
})
