/**
 * Attack: the host of a URL that a client names has an address of the provider's network, or gets one between the look-up
 * and the connection (DNS rebinding). Requests go only to the address that was checked, on every runtime with sockets.
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorker } from '../contract/worker.ts'
import { alternativeNames } from '../mtls/certificates.ts'
import { root, signedByRoot, withKeys } from '../mtls/https.ts'
import { bundle } from '../support/bundle.ts'
import { sharedDirectory } from '../support/directory.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

const keys = '{"keys":[]}'
const asked: string[] = []

const server = createServer(
  withKeys(signedByRoot({ extensions: [alternativeNames([2, 'keys.example.com'])] })),
  (request, response) => {
    asked.push(`${request.socket.localAddress} ${request.url}`)
    const send = (status: number, headers: Record<string, string>, body = '') =>
      void response.writeHead(status, headers).end(body)
    if (request.url === '/redirect') send(302, { location: 'https://127.0.0.2/keys' }, 'elsewhere')
    else if (request.url === '/no-content') send(204, {})
    else if (request.url === '/999') send(999, {})
    else if (request.url === '/half') response.writeHead(200).write('{"keys"')
    else if (request.url === '/broken') {
      response.writeHead(200, { 'content-length': '100' }).write('{')
      setImmediate(() => request.socket.destroy())
    } else if (request.url === '/endless') {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(500))) {
          // Until the socket is full.
        }
      }
      response.on('drain', more)
      more()
    } else if (request.url === '/echo') {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => send(200, {}, `${request.method} ${body}`))
    } else if (request.url !== '/hang') send(200, { 'content-type': 'application/json; charset=utf-8' }, keys)
  },
)

let parameters: readonly string[]
beforeAll(async () => {
  const file = join(sharedDirectory('guarded-fetch'), 'root.pem')
  writeFileSync(file, root.pem)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const program = await bundle(new URL('./programs/guarded-fetch.ts', import.meta.url))
  parameters = [program, String((server.address() as AddressInfo).port), file]
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function testPinned(executable: string, flags: readonly string[] = []): void {
  test('a request reaches the address that was checked, and no other', async () => {
    asked.length = 0
    const { stdout } = await promisify(execFile)(executable, [...flags, ...parameters], { timeout: 60_000 })
    expect(JSON.parse(stdout)).toEqual({
      'a public address': [200, keys, 1],
      'a name that changes its mind': [200, keys, 1],
      'a name that has changed its mind': ['address_refused', 1],
      'a private address among public ones': ['address_refused', 1],
      'no address': ['unreachable', 1],
      'a literal address': ['address_refused', 0],
      'a redirect': [302, 'elsewhere', 1],
      'no content': [204, '', 1],
      'an impossible status': ['unreachable', 1],
      'a post': [200, 'POST a=b', 1],
      'a body that does not matter': [200, '', 1],
      'an endless body': ['too_large', 1],
      'a host that does not respond': ['too_slow', 1],
      'a body that does not end': ['too_slow', 1],
      'a connection that breaks': ['unreachable', 1],
      'another media type': ['type_refused', 1],
      'an accepted media type': [200, keys, 1],
      'a certificate of another name': ['unreachable', 1],
    })
    expect(new Set(asked.map((each) => each.split(' ')[0]))).toEqual(new Set(['127.0.0.1']))
  })
}

describe('on Node.js', () => testPinned(process.execPath))
for (const version of ['22', '24']) {
  const executable = runtimeExecutable(`node${version}/bin/node`)
  describeWithRuntime(`on Node.js ${version}`, executable, () => testPinned(executable))
}
const bun = runtimeExecutable('.bin/bun')
describeWithRuntime('on Bun', bun, () => testPinned(bun))
const deno = runtimeExecutable('.bin/deno')
describeWithRuntime('on Deno', deno, () => testPinned(deno, ['run', '--allow-all', '--no-config', '--no-lock']))

// Workers have no sockets that a name could be pinned with. What their `fetch` reaches is decided by the service for the
// internet, by its addresses: without a configuration, workerd allows public ones only.
const workerd = runtimeExecutable('.bin/workerd')
describeWithRuntime('on workerd', workerd, () => {
  test('the platform refuses addresses that are not public', async () => {
    let connections = 0
    const inside = createPlainServer((_, response) => void response.end('inside')).on('connection', () => {
      connections += 1
    })
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
    const worker = await startWorker(workerd, new URL('./programs/guarded-fetch-worker.ts', import.meta.url))
    try {
      const target = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/`
      const response = await fetch(`http://127.0.0.1:${worker.port}/?target=${encodeURIComponent(target)}`)
      expect(await response.json()).toEqual({ hasSockets: false, reached: 'refused' })
      expect(connections).toBe(0)
    } finally {
      await worker.stop()
      inside.close()
    }
  })
})
