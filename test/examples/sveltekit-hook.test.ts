import { expect, test } from 'vitest'
import { handle } from '../../examples/route-handler/sveltekit/src/hooks.server.ts'

// Token requests require SvelteKit's CSRF protection to be off. The hook of the example keeps it for all other paths.

async function statusOf(path: string, method: string, headers: Record<string, string>): Promise<number> {
  const request = new Request(`https://host.example${path}`, { method, headers })
  const event = { request, url: new URL(request.url) }
  return (await handle({ event, resolve: () => new Response('resolved') })).status
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const foreign = { origin: 'https://attacker.example' }

test('a token request without an origin reaches the provider', async () => {
  expect(await statusOf('/connect/token', 'POST', form)).toBe(200)
})

test.each([
  ['a form of another origin', 'POST', { ...form, ...foreign }],
  ['a form without an origin', 'POST', form],
  ['an upload of another origin', 'PUT', { 'content-type': 'multipart/form-data; boundary=x', ...foreign }],
  ['plain text of another origin', 'POST', { 'content-type': 'TEXT/PLAIN', ...foreign }],
])('%s does not reach the host', async (_title, method, headers) => {
  expect(await statusOf('/settings', method, headers)).toBe(403)
  expect(await statusOf('/connection', method, headers)).toBe(403)
})

test.each([
  ['a form of its own origin', 'POST', { ...form, origin: 'https://host.example' }],
  ['JSON, which a form cannot send', 'POST', { 'content-type': 'application/json', ...foreign }],
  ['a request with a safe method', 'GET', foreign],
])('%s reaches the host', async (_title, method, headers) => {
  expect(await statusOf('/settings', method, headers)).toBe(200)
})
