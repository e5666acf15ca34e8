/**
 * Attack: as `client-added-again`, with a client whose end was due when it came back. The end fails, or several servers try it, or
 * its write arrives minutes later: the application that has the id by then gets what the first one had, or loses what it got since.
 */

import { expect, test } from 'vitest'
import { type Running, run } from '../reload/running.ts'
import { hours, minutes, refreshTokenOf, service, withOld, without, works } from '../reload/several-servers.ts'

const issuer = 'https://id.example.com'

const published = ['/.well-known/openid-configuration', '/.well-known/jwks']

const getAt = ({ running }: Running, path: string) =>
  running.handle(new Request(issuer + path), { clientAddress: '192.0.2.1' })

const useAt = ({ post }: Running) => post('/connect/token', { grant_type: 'client_credentials', scope: 'api1' })

/** Returns servers that have run without the client for long enough, and could not end it. */
async function due() {
  const servers = service()
  const server = await servers.start(withOld())
  const token = await refreshTokenOf('old', server)
  servers.failFor('old')
  await servers.reload(server, without())
  await servers.pass(3 * hours)
  await servers.stop(server)
  return { servers, token }
}

test('a server serves only its keys and documents while the end of a client that is back fails', async () => {
  const { servers, token } = await due()
  const server = await servers.start(withOld(), async (starting) => {
    expect(await works(token, starting)).toBe(false)
  })
  expect(await works(token, server)).toBe(false)
  for (const path of published) expect((await getAt(server, path)).status).toBe(200)
  servers.failNoMore()
  expect(await works(token, server)).toBe(false)
  expect(servers.ended()).toEqual(['old'])
  expect(await works(await refreshTokenOf('old', server), server)).toBe(true)
  await servers.end()
})

test('of two servers with a client that is back, one ends what it had, and the other one does not serve it before', async () => {
  const { servers, token } = await due()
  servers.failNoMore()
  let otherServer: Running | undefined
  let newToken = ''
  servers.beforeEndOf('old', issuer, async () => {
    otherServer = await run(withOld(), servers.driver, servers.runtime)
    expect(await works(token, otherServer)).toBe(false)
    newToken = await refreshTokenOf('old', otherServer)
  })
  const server = await servers.start(withOld())
  await servers.pass(1 * hours)
  expect(servers.ended()).toEqual([])
  expect(otherServer?.events.filter(({ type }) => type === 'client_revoked')).toHaveLength(1)
  expect(await works(token, server)).toBe(false)
  expect(await works(newToken, server)).toBe(true)
  await otherServer?.running.close()
  await servers.end()
})

test('an end whose record could not be written is not repeated', async () => {
  const { servers, token } = await due()
  servers.failNoMore()
  servers.beforeEndOf('old', issuer, async () => servers.failReadsOf('"id":"old"'))
  const server = await servers.start(withOld())
  expect(servers.ended()).toEqual(['old'])
  servers.failNoMore()
  expect(await works(token, server)).toBe(false)
  const newToken = await refreshTokenOf('old', server)
  await servers.pass(1 * hours)
  expect(servers.ended()).toEqual(['old'])
  expect(await works(newToken, server)).toBe(true)
  await servers.end()
})

test('before the first comparison, a server serves only its keys and documents', async () => {
  const { servers, token } = await due()
  servers.failNoMore()
  servers.failReadsOf('"id":"old"')
  const server = await servers.start(withOld())
  // The second request tries again.
  for (const status of [503, 503]) expect((await useAt(server)).status).toBe(status)
  for (const path of published) expect((await getAt(server, path)).status).toBe(200)
  servers.failNoMore()
  expect((await useAt(server)).status).toBe(200)
  expect(servers.ended()).toEqual(['old'])
  expect(await works(token, server)).toBe(false)
  await servers.end()
})

test('an end that arrives late leaves what the client got since', async () => {
  const { servers, token } = await due()
  servers.failNoMore()
  let release = () => {}
  const reached = new Promise<void>((resolve) => {
    servers.beforeEndOf('old', issuer, () => {
      resolve()
      return new Promise((released) => {
        release = released
      })
    })
  })
  const slow = await run(withOld(), servers.driver, servers.runtime)
  await reached
  servers.skip(2 * minutes)
  const server = await servers.start(withOld())
  expect(await works(token, server)).toBe(false)
  const newToken = await refreshTokenOf('old', server)
  release()
  await slow.running.runTasks()
  expect(await works(newToken, server)).toBe(true)
  expect(await works(token, slow)).toBe(false)
  expect(servers.ended()).toEqual(['old'])
  expect(slow.events).not.toContainEqual(expect.objectContaining({ type: 'client_revoked' }))
  await slow.running.close()
  await servers.end()
})
