/**
 * Attack: logins at a user service that hangs, on a server whose `maxRequests` is below the limit on concurrent calls
 * of one host function. Then logins take every slot, and no API can fetch the keys.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSecret, parseConfiguration } from '@grantry/core'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-few-slots-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let server: GrantryServer | undefined
afterEach(async () => {
  await server?.close(0)
  server = undefined
})

/** A server with a user service in which every login hangs. */
async function start(more: object, onCall: () => void): Promise<string> {
  const authenticate = () => {
    onCall()
    return new Promise<undefined>(() => {})
  }
  const settings = {
    issuer: 'https://id.example.com',
    storage: { driver: 'memory' },
    metrics: false,
    clients: [{ clientId: 'web', secrets: [hashSecret('a'.repeat(43))], grantTypes: ['password'], scopes: ['api1'] }],
    scopes: [{ name: 'api1' }],
    users: { authenticate },
    ...more,
  }
  const configuration = parseConfiguration(configurationSchema, settings, '')
  const loaded = { configuration, file: 'grantry.config.mjs', directory }
  server = await startServer({ loaded, port: 0, observe: () => undefined })
  return `http://127.0.0.1:${server.running.port}`
}

const logIn = (origin: string, index: number): Promise<Response> =>
  fetch(`${origin}/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`web:${'a'.repeat(43)}`)}` },
    body: new URLSearchParams({ grant_type: 'password', username: `user-${index}`, password: 'x', scope: 'api1' }),
  })

test.each([
  [{ maxRequests: 24 }, 3],
  [{ maxRequests: 4 }, 1],
  [{ maxRequests: 24, maxHostCalls: 10 }, 10],
])('1.51 with %j, hanging logins take %i slots, and the rest of the server responds', async (options, slots) => {
  let calls = 0
  // Each login either hangs in the user service or is refused.
  let pending = 30
  let resolveSettled: () => void = () => {}
  const settled = new Promise<void>((resolve) => {
    resolveSettled = resolve
  })
  const count = (): void => {
    pending -= 1
    if (pending === 0) resolveSettled()
  }
  const origin = await start(options, () => {
    calls += 1
    count()
  })
  const refusals: number[] = []
  for (let index = 0; index < 30; index++) {
    logIn(origin, index).then(
      ({ status }) => {
        refusals.push(status)
        count()
      },
      // The server closes while the others hang.
      () => undefined,
    )
  }
  await settled
  expect(calls).toBe(slots)
  expect(refusals).toEqual(refusals.map(() => 503))
  for (const path of ['/.well-known/jwks', '/health/ready']) expect((await fetch(origin + path)).status).toBe(200)
})
