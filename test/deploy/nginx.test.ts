import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverCertificate } from '../mtls/https.ts'
import { describeWithNginx } from '../server/nginx.ts'
import { eventually } from '../support/eventually.ts'
import { runProgram } from '../support/program.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { root } from './single-file.ts'

/** The file of `deploy/` with other ports and certificates. */
const configurationFor = (port: number, plainPort: number, upstream: number): string => `
daemon off;
pid nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
${readFileSync(`${root}/deploy/nginx.conf`, 'utf8')
  .replace('server 127.0.0.1:8484', `server 127.0.0.1:${upstream}`)
  .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
  .replace('listen 80', `listen 127.0.0.1:${plainPort}`)
  .replace(/ssl_certificate \S+;/u, 'ssl_certificate server.pem;')
  .replace(/ssl_certificate_key \S+;/u, 'ssl_certificate_key server.key;')}
}
`

describeWithNginx('deploy/nginx.conf', () => {
  const received: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
  const upstream = createServer(({ url, headers }, res) => {
    received.push({ url, headers })
    res.end('from the server')
  })
  const directory = mkdtempSync(join(tmpdir(), 'grantry-nginx-'))
  let nginx: ReturnType<typeof runProgram>
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
    port = await reservedPort()
    plainPort = await reservedPort()
    const files = {
      'nginx.conf': configurationFor(port, plainPort, (upstream.address() as AddressInfo).port),
      'server.pem': serverCertificate.pem,
      'server.key': serverCertificate.keyPem,
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
    nginx = runProgram(['nginx', '-p', directory, '-c', 'nginx.conf', '-e', 'stderr'], { cwd: directory })
    let ended = false
    void nginx.ended.then(() => {
      ended = true
    })
    await eventually(async () => {
      if (ended) return
      expect((await get('/')).status).toBe(200)
    })
    if (ended) throw new Error(`nginx has ended: ${nginx.output().err}`)
  })
  afterAll(async () => {
    nginx?.signal('SIGTERM')
    await nginx?.ended
    upstream.close()
    rmSync(directory, { recursive: true, force: true })
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

  test.each([['/health/ready'], ['/metrics'], ['/console'], ['/console/main.js']])(
    'does not publish %s',
    async (path) => {
      const before = received.length
      expect((await get(path)).status).toBe(404)
      expect(received).toHaveLength(before)
    },
  )

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
