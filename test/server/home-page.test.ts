import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { printedWith } from './printed.ts'

const base = sharedDirectory('home-page')

let count = 0
/** The responses of a server to requests for these paths. */
async function responsesOf(more: object, ...requests: readonly (readonly [path: string, init?: RequestInit])[]) {
  count += 1
  const file = join(base, `${count}.json`)
  const written = { issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [], ...more }
  writeFileSync(file, JSON.stringify(written))
  const responses: { status: number; headers: Headers; text: string }[] = []
  const whileListening = async (url: string) => {
    for (const [path, init] of requests) {
      const response = await fetch(`${url}${path}`, init)
      responses.push({ status: response.status, headers: response.headers, text: await response.text() })
    }
  }
  const { code } = await printedWith({ whileListening }, 'serve', '--port', '0', '--config', file)
  expect(code).toBe(0)
  return responses
}

test('GET / says what the server is and where to go', async () => {
  const [page, head, post] = await responsesOf({}, ['/'], ['/', { method: 'HEAD' }], ['/', { method: 'POST' }])
  expect(page?.status).toBe(200)
  expect(page?.text).toContain('<code>https://id.example.com</code>')
  expect(page?.text).toContain('href="https://id.example.com/.well-known/openid-configuration"')
  expect(page?.headers.get('content-security-policy')).toMatch(/default-src 'none'.*style-src 'sha256-/u)
  expect(page?.headers.get('strict-transport-security')).toBe('max-age=31536000')
  expect(page?.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect([head?.status, head?.text, post?.status]).toEqual([200, '', 405])
})

test('the page of an issuer with a path is at that path too', async () => {
  const responses = await responsesOf({ issuer: 'https://example.com/id' }, ['/id'], ['/id/'], ['/'], ['/other'])
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 404])
})

test('the page contains nothing about clients, users, storage or the version', async () => {
  const clients = [{ clientId: 'secret-client', public: true, clientName: undefined, grantTypes: [] }]
  const [page] = await responsesOf({ clients }, ['/'])
  expect(page?.text).not.toMatch(/secret-client|memory|\d+\.\d+\.\d+/u)
})

test('the page can be turned off', async () => {
  const [off] = await responsesOf({ homePage: false }, ['/'])
  expect(off?.status).toBe(404)
})
