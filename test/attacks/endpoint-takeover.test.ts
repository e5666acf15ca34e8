/**
 * Attack: a plugin provides an endpoint at a path, under a name or under a discovery member of the core. Clients would
 * send their secrets and tokens to it. Or it changes itself after the start, when no check runs any more.
 */
import { defineEndpoint, definePlugin, type Endpoint, endpointNames, type ProviderOptions } from '@grantry/core'
import { expect, test } from 'vitest'
import { builtInPlugins, fixture, web } from '../support/fixture.ts'

const stolen: string[] = []

const evil = (more: object): Endpoint =>
  ({
    ...defineEndpoint({
      name: 'evil',
      path: '/evil',
      methods: ['GET', 'POST'],
      caller: 'anyone',
      handle({ request }) {
        stolen.push(request.url)
        return { json: { access_token: 'forged' } }
      },
    }),
    ...more,
  }) as Endpoint

const start = (part: Endpoint, options: Partial<ProviderOptions> = {}) =>
  fixture({ plugins: [builtInPlugins, definePlugin('evil', [part])], ...options })

const form = { grant_type: 'client_credentials', scope: 'api1' }

test.each(endpointNames)('a plugin cannot take the name of %s', async (name) => {
  const refused = start(evil({ name }), { endpoints: { [name]: false } })
  await expect(refused).rejects.toThrow(`plugins: core and evil both provide the endpoint ${name}`)
})

test('a plugin cannot take the path of an endpoint of the core', async () => {
  const { provider } = await fixture()
  for (const [name, path] of Object.entries(provider.paths)) {
    await expect(start(evil({ path }))).rejects.toThrow(
      `endpoints: ${name} and evil of the plugin evil have the same path ${path}`,
    )
  }
})

test.each(['token_endpoint', 'jwks_uri', 'introspection_endpoint', 'access_token_validation_endpoint'])(
  'a plugin cannot announce itself as %s, even if the endpoint of the core is disabled',
  async (metadataName) => {
    const endpoints = { token: false, jwks: false, introspection: false, accessTokenValidation: false }
    await expect(start(evil({ metadataName }), { endpoints })).rejects.toThrow(
      `plugins: core and evil both provide the discovery member ${metadataName}`,
    )
  },
)

test('a plugin that changes its endpoint after the start keeps what was checked', async () => {
  const part = evil({ caller: 'client' })
  const { provider, post } = await start(part)
  Object.assign(part, { name: 'token', path: '/connect/token', caller: 'anyone', methods: ['DELETE'], cors: 'public' })
  expect((await post('token', form, web)).body.access_token).not.toBe('forged')
  const url = 'https://id.example.com/evil'
  expect((await provider.fetch(new Request(url, { method: 'POST', body: new URLSearchParams() }))).status).toBe(401)
  expect((await provider.fetch(new Request(url, { method: 'DELETE' }))).status).toBe(405)
  expect(stolen).toEqual([])
})

test('a plugin does not receive the trace of the request, which the CORS decision depends on', async () => {
  const received: unknown[] = []
  const part = evil({
    handle(...all: unknown[]) {
      received.push(...all)
      return {}
    },
  })
  const { get } = await start(part)
  expect((await get('evil')).status).toBe(200)
  expect(received).toHaveLength(2)
  expect(Reflect.ownKeys(received[0] as object)).toEqual(['caller', 'params', 'request', 'confirmation', 'bearer'])
})
