import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { exampleStarts, examplesPath, missingForExamples } from './example-folders.ts'
import { type RunningExample, startExample } from './running-example.ts'

// The middlewares of the resource server in the real frameworks, with the client of the example.

const starts = exampleStarts.filter(({ folder }) => folder === 'protected-api')

test('the example has a server for each middleware', () => {
  expect(starts.map(({ commands }) => /(\w+)\.ts/u.exec(commands)?.[1])).toEqual(['express', 'fastify', 'koa', 'hono'])
})

for (const { title, commands } of starts) {
  describeWith(missingForExamples(), `the API of ${title}`, () => {
    const framework = /(\w+)\.ts/u.exec(commands)?.[1] ?? ''
    let example: RunningExample

    beforeAll(async () => {
      example = await startExample(commands)
      await example.ready
    })
    afterAll(() => example.stop())

    test('serves the client, and refuses a token without the scope', async () => {
      const env = { ...process.env, PORT: new URL(example.base).port }
      const options = { cwd: examplesPath, env }
      const { stdout } = await promisify(execFile)('node', ['--import', 'tsx', 'protected-api/client.ts'], options)
      const [orders = '', refusal] = stdout.trim().split('\n')
      expect(JSON.parse(orders)).toEqual({
        framework: expect.stringMatching(new RegExp(framework, 'iu')),
        client: 'robot',
      })
      expect(refusal).toBe('403 insufficient_scope')
    })

    test('refuses requests without a token and with an unbound one', async () => {
      const missing = await fetch(`${example.base}/orders`)
      expect([missing.status, await missing.text()]).toEqual([401, ''])
      expect(missing.headers.get('www-authenticate')).toMatch(/^DPoP scope="orders:read", algs="ES256 /u)
      const refused = await fetch(`${example.base}/orders?a=1`, { headers: { authorization: 'Bearer abc' } })
      expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'invalid_token' }])
      expect(refused.headers.get('content-type')).toMatch(/^application\/json\b/u)
      expect(refused.headers.get('cache-control')).toBe('no-store')
    })

    test('refuses two Authorization headers', async () => {
      const status = await new Promise((resolve, reject) => {
        const headers = ['authorization', 'DPoP a', 'authorization', 'DPoP b', 'host', new URL(example.base).host]
        const sent = request(`${example.base}/orders`, { headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        sent.once('error', reject)
        sent.end()
      })
      expect(status).toBe(400)
    })
  })
}
