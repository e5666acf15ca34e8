/**
 * Attack: as `client-added-again`, in a tenant. A server opens a tenant when it is asked for it: the client of a tenant that is idle at
 * the servers that have it is taken for one that has left, and its users are signed out; or a client has left while the tenant
 * was idle, and another application that gets its id inherits what was issued to it. Or a server that has not compared since then
 * ends the tokens of a client that has left, and is back.
 */

import { describe, expect, test } from 'vitest'
import type { Running } from '../reload/running.ts'
import { days, hours, type Service } from '../reload/several-servers.ts'
import {
  fileOf,
  issued,
  pass,
  refreshTokenOf,
  use,
  withOld,
  without,
  withoutTenant,
  works,
} from '../reload/tenant-of-several-servers.ts'

describe('a client of a tenant that stays keeps what it has', () => {
  const ways: Record<string, (servers: Service, server: Running) => Promise<Running>> = {
    'while the tenant is used only at a server without it': async (servers, server) => {
      const behind = await servers.start(without())
      await pass(servers, 5 * hours, behind)
      return server
    },
    'while the tenant is idle at a server that has restarted': async (servers, server) => {
      const behind = await servers.start(without())
      await servers.stop(server)
      const again = await servers.start(withOld())
      await pass(servers, 5 * hours, behind)
      return again
    },
    'while the tenant is in no file': async (servers, server) => {
      await servers.reload(server, withoutTenant())
      await pass(servers, 1 * days)
      await servers.reload(server, withOld())
      return server
    },
    'while the tenant is disabled': async (servers, server) => {
      await servers.reload(server, fileOf(['web', 'old'], { enabled: false }))
      await pass(servers, 1 * days)
      await servers.reload(server, withOld())
      return server
    },
    'when a wrong file is mended within two hours': async (servers, server) => {
      await servers.reload(server, without())
      await pass(servers, 1 * hours, server)
      await servers.reload(server, withOld())
      await pass(servers, 5 * hours, server)
      return server
    },
  }

  test.each(Object.entries(ways))('%s', async (_, wait) => {
    const { servers, server, kept } = await issued()
    const last = await wait(servers, server)
    expect(servers.ended()).toEqual([])
    expect(await works(kept, last)).toBe(true)
    await servers.end()
  })
})

describe('a client of a tenant that has left, and is added again, inherits nothing', () => {
  const ways: Record<string, (servers: Service, server: Running) => Promise<Running>> = {
    'while the tenant is used': async (servers, server) => {
      await servers.reload(server, without())
      await pass(servers, 3 * hours, server)
      expect(servers.ended()).toEqual(['old'])
      await servers.reload(server, withOld())
      return server
    },
    'while the tenant is idle': async (servers, server) => {
      await servers.reload(server, without())
      await pass(servers, 3 * hours)
      await servers.reload(server, withOld())
      return server
    },
    'while the tenant is idle, by restarts': async (servers, server) => {
      await servers.stop(server)
      const interim = await servers.start(without())
      await pass(servers, 3 * hours)
      await servers.stop(interim)
      return servers.start(withOld())
    },
  }

  test.each(Object.entries(ways))('%s', async (_, again) => {
    const { servers, server, kept } = await issued()
    const last = await again(servers, server)
    expect(await works(kept, last)).toBe(false)
    expect(servers.ended()).toEqual(['old'])
    // The new client gets tokens that stay.
    const newToken = await refreshTokenOf(last)
    await pass(servers, 3 * hours, last)
    expect(await works(newToken, last)).toBe(true)
    expect(servers.ended()).toEqual(['old'])
    await servers.end()
  })
})

describe('a client that has left, and is back, keeps what it gets from then on', () => {
  /** Returns two servers without the client, whose end is due. The tenant is open at none. */
  async function due() {
    const { servers, server: first } = await issued()
    await servers.stop(first)
    const server = await servers.start(without())
    const behind = await servers.start(without())
    await pass(servers, 3 * hours)
    expect(servers.ended()).toEqual([])
    return { servers, server, behind }
  }

  type Due = Awaited<ReturnType<typeof due>>

  const ways: Record<string, (due: Due) => Promise<Running>> = {
    'when a server has ended it, and has restarted with it': async ({ servers, server }) => {
      expect((await use(server)).status).toBe(200)
      await servers.stop(server)
      return servers.start(withOld())
    },
    'when the server that has the client again has ended it': async ({ servers, server }) => {
      await servers.reload(server, withOld())
      return server
    },
  }

  test.each(Object.entries(ways))('%s', async (_, back) => {
    const setting = await due()
    const { servers, behind } = setting
    const server = await back(setting)
    const newToken = await refreshTokenOf(server)
    expect(servers.ended()).toEqual(['old'])
    // The other server has not compared since then.
    await use(behind)
    await servers.runTasks()
    expect(servers.ended()).toEqual(['old'])
    expect(await works(newToken, server)).toBe(true)
    await pass(servers, 1 * hours, behind)
    expect(servers.ended()).toEqual(['old'])
    await servers.end()
  })
})
