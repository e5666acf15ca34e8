/**
 * Attack (by misconfiguration): behind a proxy with `trustedProxies: 0`, all clients share the address of the proxy, so
 * the wrong guesses of one client lock out the others. The operator gets one warning with the setting to change.
 *
 * RFC 9700 section 4.13.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bunHandler } from '@grantry/adapters/bun'
import { denoHandler } from '@grantry/adapters/deno'
import { nodeListener, type ServeOptions, serve } from '@grantry/adapters/node'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import { startServer } from '../support/patient-server.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const end of ends.splice(0)) await end()
})

type Send = (headers?: Record<string, string>) => Promise<Response>
type Options = Pick<ServeOptions, 'trustedProxies' | 'onWarning' | 'onError'>

const handler = async (): Promise<Response> => new Response('fine')
const servable = { issuer: 'http://127.0.0.1', fetch: handler }
const requestWith = (headers: Record<string, string>): Request => new Request('http://127.0.0.1/', { headers })

const adapters: Readonly<Record<string, (options: Options) => Send | Promise<Send>>> = {
  'serve on Node.js': async (options) => {
    const { port, close } = await serve(servable, options)
    ends.push(() => close(0))
    return (headers = {}) => fetch(`http://127.0.0.1:${port}/`, { headers })
  },
  nodeListener: async (options) => {
    const server = createServer(nodeListener(servable, options))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => server.close())
    return (headers = {}) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { headers })
  },
  bunHandler: (options) => {
    const response = bunHandler(servable, options)
    return (headers = {}) =>
      response(requestWith(headers), { requestIP: () => ({ address: '127.0.0.1' }), stop: () => undefined })
  },
  denoHandler: (options) => {
    const response = denoHandler(servable, options)
    return (headers = {}) => response(requestWith(headers), { remoteAddr: { hostname: '127.0.0.1' } })
  },
}

const forwarding = [
  ['X-Forwarded-For', '198.51.100.7'],
  ['Forwarded', 'for=198.51.100.7'],
  ['X-Forwarded-Host', 'id.example.com'],
  ['X-Forwarded-Proto', 'https'],
] as const

describe.each(Object.entries(adapters))('%s', (_, start) => {
  test.each(forwarding)('%s with trustedProxies 0: one warning with the setting to change', async (name, value) => {
    const warnings: unknown[] = []
    const send = await start({ onWarning: (warning) => warnings.push(warning) })
    await send()
    expect(warnings).toEqual([])
    for (let time = 0; time < 3; time += 1) expect((await send({ [name]: value })).status).toBe(200)
    expect(warnings).toEqual([
      {
        reason: 'forwarding_headers_ignored',
        message: expect.stringContaining('"trustedProxies": 1'),
        clientAddress: '127.0.0.1',
      },
    ])
    expect(JSON.stringify(warnings)).toContain(name)
    expect(JSON.stringify(warnings)).not.toContain(value)
  })

  test('no warning when trustedProxies is set', async () => {
    const warnings: unknown[] = []
    const send = await start({ trustedProxies: 1, onWarning: (warning) => warnings.push(warning) })
    for (const [name, value] of forwarding) await send({ [name]: value })
    expect(warnings).toEqual([])
  })

  test('the default onWarning is console.warn, called once', async () => {
    const spy = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const send = await start({})
    for (let time = 0; time < 3; time += 1) await send({ 'X-Forwarded-For': '198.51.100.7' })
    expect(spy.mock.calls).toEqual([[expect.stringContaining('"trustedProxies": 1')]])
  })

  test('an error thrown by onWarning is reported, and the response does not change', async () => {
    const received: unknown[] = []
    const send = await start({
      onWarning: () => {
        throw new Error('careless')
      },
      onError: (error) => received.push(error),
    })
    expect(await (await send({ 'X-Forwarded-For': '198.51.100.7' })).text()).toBe('fine')
    expect(received).toEqual([new Error('careless')])
  })
})

test('the server logs the warning once', async () => {
  const events: ServerEvent[] = []
  const directory = mkdtempSync(join(tmpdir(), 'grantry-forwarding-'))
  ends.push(() => rmSync(directory, { recursive: true, force: true }))
  const server = await startServer({ directory, port: 0, observe: (event) => events.push(event) })
  ends.push(() => server.close(0))
  const jwks = `http://127.0.0.1:${server.running.port}/.well-known/jwks`
  for (let time = 0; time < 3; time += 1) await fetch(jwks, { headers: { 'X-Forwarded-For': '198.51.100.7' } })
  const warnings = events.filter(({ type }) => type === 'startup_warning')
  expect(warnings.filter((event) => 'reason' in event && event.reason === 'forwarding_headers_ignored')).toMatchObject([
    { message: expect.stringContaining('"trustedProxies": 1'), clientAddress: '127.0.0.1' },
  ])
})
