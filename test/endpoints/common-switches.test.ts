import { type EndpointName, endpointNames } from '@grantry/core'
import { read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const issuer = 'https://id.example.com'

/** The members of the discovery document that name an endpoint. */
const members: Partial<Record<EndpointName, string>> = {
  token: 'token_endpoint',
  identityTokenValidation: 'identity_token_validation_endpoint',
  userinfo: 'userinfo_endpoint',
  accessTokenValidation: 'access_token_validation_endpoint',
  introspection: 'introspection_endpoint',
  jwks: 'jwks_uri',
}

describe('a disabled endpoint', () => {
  test.each(endpointNames)('1.4 %s returns 404 when it is disabled, also from its handler', async (name) => {
    const { provider } = await fixture({ endpoints: { [name]: false } })
    const on = await fixture()
    for (const method of ['GET', 'POST', 'OPTIONS', 'PUT']) {
      const request = () => new Request(`${issuer}/anywhere`, { method })
      expect((await on.provider.handlers[name](request())).status, `on, ${method}`).not.toBe(404)
      const { status, body } = await read(await provider.handlers[name](request()))
      expect(status, `off, ${method}`).toBe(404)
      expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
    }
  })

  test.each(Object.entries(members))('1.4 %s is absent from discovery when it is disabled', async (name, member) => {
    expect((await fixture()).provider.metadata).toHaveProperty(member)
    const { provider } = await fixture({ endpoints: { [name]: false } })
    const response = await provider.fetch(new Request(`${issuer}/.well-known/openid-configuration`))
    const { body } = await read(response)
    expect(body).not.toHaveProperty(member)
    for (const otherMember of Object.values(members))
      if (otherMember !== member) expect(body).toHaveProperty(otherMember)
  })

  test('1.4 a disabled endpoint returns 404 for valid credentials too', async () => {
    const { post, provider } = await fixture({ endpoints: { token: false } })
    const { status, body } = await post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)
    expect(status).toBe(404)
    expect(body).not.toHaveProperty('access_token')
    expect(provider.route(new Request(`${issuer}/connect/token`))).toBeUndefined()
  })

  test('1.4 rejects a mistyped switch at start and suggests the nearest name', async () => {
    const endpoints = { acessTokenValidation: false } as Partial<Record<EndpointName, boolean>>
    await expect(fixture({ endpoints })).rejects.toThrow('did you mean accessTokenValidation?')
  })
})
