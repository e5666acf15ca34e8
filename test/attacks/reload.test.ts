/**
 * Attack: while an operator lets the server read its configuration again, two providers exist for a moment. An attacker
 * presents a code to both, uses the reload to forget guesses, or replaces a file of the configuration by something that
 * never ends or does not fit into memory.
 */

import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { storeGrant } from '@grantry/testing'
import { decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { rereadConfiguration } from '../../packages/server/src/reload/reread-configuration.ts'
import { clientOf, loadedOf, type Running, redirectUri, run } from '../reload/running.ts'
import { withLatency } from '../support/latency.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-reload-attack-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const newCode = ({ running }: Running): Promise<string> =>
  storeGrant(running.current.provider, {
    kind: 'code',
    clientId: 'web',
    subject: { sub: 'alice', amr: ['pwd'] },
    scopes: ['openid', 'offline_access', 'api1'],
    redirectUri,
  })

const codeForm = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })

const bodyOf = async (response: Response): Promise<Record<string, unknown>> => ({
  status: response.status,
  ...((await response.json()) as object),
})

const clientForm = { grant_type: 'client_credentials', scope: 'api1' }

const isActive = async (server: Running, token: unknown): Promise<unknown> =>
  (await bodyOf(await server.post('/connect/introspect', { token: String(token) }, 'api1'))).active

describe('a code at the provider that is replaced and at the new one', () => {
  test.each(Array.from({ length: 3 }, (_, index) => index))('is redeemed once, round %i', async () => {
    const server = await run(loadedOf(), withLatency(memoryDriver()))
    const code = await newCode(server)
    const redeem = (): Promise<Response> => server.post('/connect/token', codeForm(code))
    const before = [redeem(), redeem(), redeem()]
    expect(await server.running.reload()).toMatchObject({ reloaded: true })
    const after = [redeem(), redeem(), redeem()]
    const statuses = (await Promise.all([...before, ...after])).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1)
    expect(server.events.filter(({ type }) => type === 'code_redeemed')).toHaveLength(1)
    await server.running.close()
  })

  test('is redeemed once also when both are about to write', async () => {
    const driver = memoryDriver()
    let open: () => void = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    let held = 0
    let isHolding = false
    const { commit } = driver
    const server = await run(loadedOf(), {
      ...driver,
      async commit(changes) {
        if (isHolding) {
          held += 1
          await opened
        }
        return commit(changes)
      },
    })
    const code = await newCode(server)
    isHolding = true
    const before = server.post('/connect/token', codeForm(code))
    await expect.poll(() => held).toBe(1)
    isHolding = false
    expect(await server.running.reload()).toMatchObject({ reloaded: true })
    isHolding = true
    const after = server.post('/connect/token', codeForm(code))
    await expect.poll(() => held).toBe(2)
    open()
    const statuses = (await Promise.all([before, after])).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBe(1)
    await server.running.close()
  })
})

test('a spent refresh token is reused at the new provider: its family ends', async () => {
  const server = await run(loadedOf())
  const first = await bodyOf(await server.post('/connect/token', codeForm(await newCode(server))))
  const refresh = (token: unknown) =>
    server.post('/connect/token', { grant_type: 'refresh_token', refresh_token: String(token) })
  const second = await bodyOf(await refresh(first.refresh_token))
  const third = await bodyOf(await refresh(second.refresh_token))
  await server.running.reload()
  expect((await refresh(first.refresh_token)).status).toBe(400)
  expect(await isActive(server, third.access_token)).toBe(false)
  await server.running.close()
})

test('a client that is removed loses its tokens, as with a restart', async () => {
  const driver = memoryDriver()
  const server = await run(loadedOf({ clients: [clientOf('web'), clientOf('old')] }), driver)
  const form = { grant_type: 'client_credentials', scope: 'api1' }
  const { access_token } = await bodyOf(await server.post('/connect/token', form, 'old'))
  expect(await isActive(server, access_token)).toBe(true)
  server.next = async () => loadedOf()
  await server.running.reload()
  const restarted = await run(loadedOf(), driver)
  expect([await isActive(server, access_token), await isActive(restarted, access_token)]).toEqual([false, false])
  expect((await server.post('/connect/token', form, 'old')).status).toBe(401)
  await server.running.close()
})

test('a key that is removed from the file signs nothing more, and its tokens are refused', async () => {
  const keyFile = join(directory, 'keys.json')
  const keys = await Promise.all(
    ['one', 'two'].map(async (kid) => {
      const { privateKey } = await generateKeyPair('ES256', { extractable: true })
      return { ...(await exportJWK(privateKey)), kid, alg: 'ES256' }
    }),
  )
  const loaded = loadedOf({ keys: { jwks: keyFile }, clients: [clientOf('web', { accessTokenFormat: 'jwt' })] })
  writeFileSync(keyFile, JSON.stringify({ keys: keys.slice(0, 1) }))
  const server = await run(loaded)
  const tokenOf = async () => String((await bodyOf(await server.post('/connect/token', clientForm))).access_token)
  const old = await tokenOf()
  writeFileSync(keyFile, JSON.stringify({ keys: [...keys].reverse() }))
  expect(await server.running.reload()).toMatchObject({ reloaded: true })
  const next = await tokenOf()
  expect([old, next].map((token) => decodeProtectedHeader(token).kid)).toEqual(['one', 'two'])
  expect([await isActive(server, old), await isActive(server, next)]).toEqual([true, true])
  writeFileSync(keyFile, JSON.stringify({ keys: keys.slice(1) }))
  await server.running.reload()
  expect([await isActive(server, old), await isActive(server, next)]).toEqual([false, true])
  await server.running.close()
})

test('guesses count across reloads', async () => {
  const server = await run(loadedOf())
  const statuses: number[] = []
  for (let guess = 0; guess < 14; guess += 1) {
    const response = await server.running.handle(
      new Request('https://id.example.com/connect/token', {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`web:guess-${guess}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      }),
      { clientAddress: '192.0.2.1' },
    )
    statuses.push(response.status)
    await server.running.reload()
  }
  expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401))
  expect(statuses.slice(10)).toEqual([429, 429, 429, 429])
  await server.running.close()
})

describe('a file of the configuration that is replaced', () => {
  const file = join(directory, 'grantry.config.json')
  const put = {
    'a link to a device without an end': () => symlinkSync('/dev/zero', file),
    'a link to itself': () => symlinkSync(file, file),
    'a link to a directory': () => symlinkSync(directory, file),
    'a file that does not fit into memory': () => {
      writeFileSync(file, '')
      truncateSync(file, 2 ** 40)
    },
  }
  test.each(Object.entries(put))('by %s is refused, and the old configuration goes on', async (_, replace) => {
    rmSync(file, { force: true })
    const server = await run(loadedOf())
    server.next = () => rereadConfiguration(file, {})
    replace()
    expect(await server.running.reload()).toMatchObject({
      reloaded: false,
      reason: 'invalid',
      message: expect.stringContaining(file),
    })
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    expect((await server.post('/connect/token', form)).status).toBe(200)
    await server.running.close()
  })

  test('also as the file of a secret, whose content is not in the message', async () => {
    rmSync(file, { force: true })
    writeFileSync(file, JSON.stringify({ issuer: 'https://id.example.com', clients: [], storage: '$' + '{SECRET}' }))
    await expect(rereadConfiguration(file, { SECRET_FILE: '/dev/zero' })).rejects.toThrow('/dev/zero: it is not a file')
    writeFileSync(join(directory, 'secret'), 'very secret')
    const failed = await rereadConfiguration(file, { SECRET_FILE: join(directory, 'secret') }).catch(String)
    expect(failed).toContain('storage')
    expect(failed).not.toContain('very secret')
  })
})
