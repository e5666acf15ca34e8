import { createServer, type IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithNginx } from '../server/nginx.ts'
import { startNginx } from './nginx-proxy.ts'

describeWithNginx('deploy/nginx.conf', () => {
  const received: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
  const upstream = createServer(({ url, headers }, res) => {
    received.push({ url, headers })
    res.end('from the server')
  })
  let nginx: Awaited<ReturnType<typeof startNginx>>
  let port: number
  let plainPort: number

  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }
      request(options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode, text }))
      })
        .on('error', reject)
        .end()
    })

  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    nginx = await startNginx({ upstreams: [(upstream.address() as AddressInfo).port] }, async (listeningPort) => {
      port = listeningPort
      return (await get('/')).status === 200
    })
    plainPort = nginx.plainPort
  })
  afterAll(async () => {
    await nginx?.stop()
    upstream.close()
  })

  test('replaces the forwarding headers of the client', async () => {
    await get('/connect/token', {
      'x-forwarded-for': '192.0.2.66',
      'x-forwarded-proto': 'http',
      host: 'id.example.com',
    })
    expect(received.at(-1)).toMatchObject({
      url: '/connect/token',
      headers: { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https', host: 'id.example.com' },
    })
  })

  test.each([['/health/ready'], ['/metrics'], ['/metrics/']])('does not publish %s', async (path) => {
    const before = received.length
    expect((await get(path)).status).toBe(404)
    expect(received).toHaveLength(before)
  })

  test('passes on the console with the port, which the server compares with the origin of the page', async () => {
    expect((await get('/console/main.js', { host: 'id.example.com:8443' })).status).toBe(200)
    expect(received.at(-1)).toMatchObject({ url: '/console/main.js', headers: { host: 'id.example.com:8443' } })
  })

  test('passes on long requests and other paths', async () => {
    expect((await get(`/connect/authorize?state=${'x'.repeat(8000)}`)).status).toBe(200)
    expect((await get('/healthy')).status).toBe(200)
  })

  test('redirects http to https', async () => {
    const init = { redirect: 'manual', headers: { host: 'id.example.com' } } as const
    const response = await fetch(`http://127.0.0.1:${plainPort}/connect/authorize?x=1`, init)
    expect([response.status, response.headers.get('location')]).toEqual([
      308,
      expect.stringMatching(/^https:\/\/[^/]+\/connect\/authorize\?x=1$/u),
    ])
  })
})
