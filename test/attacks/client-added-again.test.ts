/**
 * Attack: a client is removed from the configuration file, and later another application gets its id. What was issued to the
 * first one, such as a refresh token that it has kept, works again, and users are not asked, because they have consented. And
 * the other way round: servers that run with different files during a rollout end what belongs to clients that stay.
 */

import { openEntries } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { clientOf, type Running } from '../reload/running.ts'
import {
  days,
  fileOf,
  hours,
  minutes,
  refreshTokenOf,
  type Service,
  service,
  withOld,
  without,
  works,
} from '../reload/several-servers.ts'

describe('a client that was removed from the file and is added again inherits nothing', () => {
  const ways: Record<string, (service: Service, server: Running) => Promise<Running>> = {
    'by reloads': async (service, server) => {
      await service.reload(server, without())
      await service.pass(3 * hours)
      await service.reload(server, withOld())
      return server
    },
    'by restarts': async (service, server) => {
      await service.stop(server)
      const interim = await service.start(without())
      await service.pass(3 * hours)
      await service.stop(interim)
      return service.start(withOld())
    },
    'as one of two, beside a third': async (service, server) => {
      await service.reload(server, fileOf('web', 'other'))
      await service.pass(3 * hours)
      await service.reload(server, withOld())
      return server
    },
    'a second time': async (service, server) => {
      for (const file of [without(), withOld(), without()]) {
        await service.reload(server, file)
        await service.pass(3 * hours)
      }
      await service.reload(server, withOld())
      return server
    },
    'with another process that is still starting': async (service, server) => {
      await service.reload(server, without())
      await service.pass(1 * hours)
      const successor = await service.start(without())
      await service.pass(2 * hours)
      await service.stop(server)
      await service.reload(successor, withOld())
      return successor
    },
  }

  test.each(Object.entries(ways))('%s', async (_, again) => {
    const servers = service()
    const server = await servers.start(withOld())
    const token = await refreshTokenOf('old', server)
    const kept = await refreshTokenOf('web', server)
    const last = await again(servers, server)
    expect(await works(token, last)).toBe(false)
    expect(servers.ended()).toContain('old')
    expect(servers.ended()).not.toContain('web')
    // The others keep what they have, and the new client gets tokens.
    const form = { grant_type: 'refresh_token', refresh_token: kept }
    expect((await last.post('/connect/token', form)).status).toBe(200)
    expect(await works(await refreshTokenOf('old', last), last)).toBe(true)
    await servers.end()
  })
})

describe('a client that stays keeps what it has', () => {
  const ways: Record<string, (service: Service, server: Running) => Promise<Running>> = {
    'when a wrong file is mended within two hours': async (service, server) => {
      await service.reload(server, without())
      await service.pass(1 * hours)
      await service.reload(server, withOld())
      await service.pass(3 * days)
      return server
    },
    'when a server with an old file starts during a rollout': async (service, server) => {
      const behind = await service.start(without())
      await service.pass(30 * minutes)
      await service.stop(behind)
      await service.pass(3 * days)
      await service.stop(server)
      return service.start(withOld())
    },
    'while servers with two files run for days': async (service, server) => {
      const behind = await service.start(without())
      await service.pass(2 * days)
      await service.stop(behind)
      await service.start(without())
      await service.pass(1 * days)
      return server
    },
    'after a short run without it, and a long stop': async (service, server) => {
      await service.reload(server, without())
      await service.stop(server)
      service.skip(3 * days)
      return service.start(withOld())
    },
    'when all servers stop while one of them has an old file': async (service, server) => {
      const behind = await service.start(without())
      await service.pass(5 * minutes)
      await service.stop(behind)
      await service.stop(server)
      service.skip(3 * days)
      return service.start(withOld())
    },
    'when all servers stop between two short runs without it': async (service, server) => {
      await service.stop(server)
      for (const pause of [3 * days, 0]) {
        const behind = await service.start(without())
        await service.pass(15 * minutes)
        await service.stop(behind)
        service.skip(pause)
      }
      return service.start(withOld())
    },
    'when the servers cannot compare for hours': async (service, server) => {
      const behind = await service.start(without())
      service.skip(3 * hours)
      await service.pass(20 * minutes)
      await service.stop(behind)
      return server
    },
    'when no server has run for days': async (service, server) => {
      await service.stop(server)
      service.skip(5 * days)
      return service.start(withOld())
    },
    'when it has moved to the storage': async (service, server) => {
      await service.reload(server, without())
      const value = { client: clientOf('old'), tags: [], createdAt: '', changedAt: '' }
      const entries = openEntries({ issuer: 'https://id.example.com', storage: service.driver })
      await entries.create('client', 'old', value)
      await service.pass(3 * hours)
      return server
    },
    'when it has moved to the storage, and is disabled there for a while': async (service, server) => {
      await service.reload(server, without())
      const entryOf = (enabled: boolean) => ({
        ...{ client: { ...clientOf('old'), enabled }, tags: [], createdAt: '', changedAt: '' },
      })
      const entries = openEntries({ issuer: 'https://id.example.com', storage: service.driver })
      const entry = await entries.create('client', 'old', entryOf(false))
      await service.pass(3 * hours)
      await entries.replace('client', 'old', entry?.version ?? '', entryOf(true))
      await service.pass(1 * hours)
      return server
    },
  }

  test.each(Object.entries(ways))('%s', async (_, wait) => {
    const servers = service()
    const server = await servers.start(withOld())
    const token = await refreshTokenOf('old', server)
    const last = await wait(servers, server)
    expect(servers.ended()).toEqual([])
    expect(await works(token, last)).toBe(true)
    await servers.end()
  })
})

test('an end that fails does not repeat the others', async () => {
  const servers = service()
  const server = await servers.start(fileOf('web', 'old', 'other'))
  servers.failFor('other')
  await servers.reload(server, without())
  await servers.pass(3 * hours)
  expect(servers.ended()).toEqual(['old'])
  await servers.reload(server, withOld())
  const token = await refreshTokenOf('old', server)
  await servers.pass(1 * hours)
  expect(servers.ended()).toEqual(['old'])
  expect(await works(token, server)).toBe(true)
  await servers.end()
})
