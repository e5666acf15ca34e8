import { hattipHandler } from '@grantry/adapters/hattip'
import type { AdapterRequestContext } from '@hattip/core'
import { expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'

/** Creates a context like a hattip adapter does, and records whether the handler passed the request on. */
function contextOf(url: string, ip: string) {
  const seen = { passedThrough: false }
  const context: AdapterRequestContext = {
    request: new Request(url),
    ip,
    platform: {},
    env: () => undefined,
    passThrough() {
      seen.passedThrough = true
    },
    waitUntil() {},
  }
  return { context, seen }
}

test('handles a request to an endpoint, with the client address from hattip', async () => {
  const f = await fixture()
  const { context, seen } = contextOf('https://any.example/connect/userinfo', '192.0.2.7')
  const response = await hattipHandler(f.provider)(context)
  expect(response.status).toBe(401)
  expect(seen.passedThrough).toBe(false)
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', endpoint: 'userinfo', clientAddress: '192.0.2.7' })
})

test('passes other requests on', async () => {
  const { provider } = await fixture()
  const { context, seen } = contextOf('https://any.example/elsewhere', '192.0.2.7')
  const response = await hattipHandler(provider)(context)
  expect(response.status).toBe(404)
  expect(seen.passedThrough).toBe(true)
})

test('addressOf overrides the client address, and an empty address is omitted', async () => {
  const f = await fixture()
  await hattipHandler(f.provider, () => '203.0.113.9')(contextOf('https://x.example/connect/userinfo', '').context)
  expect(f.events.at(-1)).toMatchObject({ clientAddress: '203.0.113.9' })
  await hattipHandler(f.provider)(contextOf('https://x.example/connect/userinfo', '').context)
  expect(f.events.at(-1)).not.toHaveProperty('clientAddress')
})
