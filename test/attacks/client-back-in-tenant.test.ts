/**
 * Attack: as `client-added-again`, in a tenant whose client is back before it has ended. A request comes before a server has
 * compared, or while the end fails: the application that has the id by then gets what the first one had. Or two servers end the
 * client at the same moment, and the second end reaches what the client got after the first.
 */

import { describe, expect, test } from 'vitest'
import { run } from '../reload/running.ts'
import { hours, minutes, type Service } from '../reload/several-servers.ts'
import { issued, pass, refreshTokenOf, use, withOld, without, works } from '../reload/tenant-of-several-servers.ts'

const issuer = 'https://id.example.com/t/acme'

/** Returns servers that have run without the client for long enough. Its tenant was not used. */
async function left() {
  const { servers, server: first, kept } = await issued()
  await servers.stop(first)
  const between = await servers.start(without())
  await pass(servers, 3 * hours)
  return { servers, between, kept }
}

test('a tenant serves only its keys and documents while the end of a client that has left fails', async () => {
  const { servers, between, kept } = await left()
  await servers.stop(between)
  servers.failFor('old', issuer)
  const again = await servers.start(withOld())
  expect((await use(again)).status).toBe(503)
  expect(await works(kept, again)).toBe(false)
  for (const path of ['openid-configuration', 'jwks']) {
    const request = new Request(`${issuer}/.well-known/${path}`)
    expect((await again.running.handle(request, { clientAddress: '192.0.2.1' })).status).toBe(200)
  }
  servers.failNoMore()
  // Without another look at the record.
  expect((await use(again)).status).toBe(200)
  await servers.stop(again)
  const last = await servers.start(withOld())
  expect((await use(last)).status).toBe(200)
  expect(await works(kept, last)).toBe(false)
  expect(servers.ended()).toEqual(['old'])
  await servers.end()
})

describe('a client that is back gets nothing of the one that has left', () => {
  /** What a server does before its first comparison, and when that becomes possible. */
  const failures: Record<string, (servers: Service) => void> = {
    'that ends it': (servers) => servers.failFor('old', issuer),
    'that compares, and has not begun': (servers) => servers.failReadsOf('\\"acme\\",'),
  }

  test.each(Object.entries(failures))('by a request before the run %s', async (_, fail) => {
    const { servers, between, kept } = await left()
    await servers.stop(between)
    fail(servers)
    const again = await servers.start(withOld(), async (server) => {
      expect(await works(kept, server)).toBe(false)
    })
    expect(await works(kept, again)).toBe(false)
    servers.failNoMore()
    // A tenant that could not be opened is not tried again in the same second.
    servers.skip(2)
    expect(await works(kept, again)).toBe(false)
    expect(servers.ended()).toEqual(['old'])
    const newToken = await refreshTokenOf(again)
    await pass(servers, 1 * hours)
    expect(await works(newToken, again)).toBe(true)
    expect(servers.ended()).toEqual(['old'])
    await servers.end()
  })

  test('while its tenant is open, and another server has found it missing', async () => {
    const { servers, server, kept } = await issued()
    await servers.stop(server)
    const behind = await servers.start(without())
    // It does not compare, as with a connection that hangs.
    const again = await run(withOld(), servers.driver, servers.runtime)
    expect((await use(again)).status).toBe(200)
    await pass(servers, 3 * hours)
    servers.failFor('old', issuer)
    await again.running.runTasks()
    expect(await works(kept, again)).toBe(false)
    servers.failNoMore()
    expect(await works(kept, again)).toBe(false)
    expect((await use(again)).status).toBe(200)
    await again.running.close()
    await servers.stop(behind)
  })
})

describe('of two servers with a client that is back, one ends what it had', () => {
  test.each(['first', 'second'])('while the end by the %s is in progress', async (at) => {
    const { servers, between, kept } = await left()
    await servers.stop(between)
    const first = await servers.start(withOld())
    const second = await servers.start(withOld())
    const [server, otherServer] = at === 'first' ? [first, second] : [second, first]
    let newToken = ''
    servers.beforeEndOf('old', issuer, async () => {
      expect(await works(kept, otherServer)).toBe(false)
      newToken = await refreshTokenOf(otherServer)
      expect(servers.ended()).toEqual(['old'])
    })
    expect((await use(server)).status).toBe(200)
    await pass(servers, 1 * hours, server, otherServer)
    expect(servers.ended()).toEqual(['old'])
    expect(await works(newToken, otherServer)).toBe(true)
    await servers.end()
  })

  test('the second one, if the first one has stopped during it, although its write arrives late', async () => {
    const { servers, between, kept } = await left()
    await servers.stop(between)
    const first = await servers.start(withOld())
    const second = await servers.start(withOld())
    let release = () => {}
    const slow = await new Promise<() => Promise<Response>>((reached) => {
      const used = new Promise<void>((blocked) => {
        servers.beforeEndOf('old', issuer, () => {
          blocked()
          return new Promise((released) => {
            release = released
          })
        })
      })
      const response = use(first)
      void used.then(() => reached(() => response))
    })
    servers.skip(2 * minutes)
    expect(await works(kept, second)).toBe(false)
    expect((await use(second)).status).toBe(200)
    const newToken = await refreshTokenOf(second)
    release()
    expect((await slow()).status).toBe(200)
    expect(servers.ended()).toEqual(['old'])
    expect(await works(newToken, first)).toBe(true)
    await servers.end()
  })
})
