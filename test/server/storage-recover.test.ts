// grantry storage recover: an operator has restored a backup of the storage.
import { cpSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { startServer } from '../support/patient-server.ts'
import { directories, file, serve } from './operator-server.ts'
import { printed } from './printed.ts'

describe('grantry storage recover', () => {
  test('removes the tokens of a restored directory, and says what is lost', async () => {
    const storage = directories()
    const config = file(storage)
    const issued = await (await serve(config)).login()
    cpSync(storage.directory, `${storage.directory}-backup`, { recursive: true })
    rmSync(storage.directory, { recursive: true })
    cpSync(`${storage.directory}-backup`, storage.directory, { recursive: true })

    const dry = await printed('storage', 'recover', '--config', config, '--dry-run')
    expect(dry).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Read \d+ items: [1-9]\d* to be removed\.\nNothing was removed\.\n$/u),
      err: expect.stringMatching(/^storage {2}filesystem: \S+, without fsync.*\n$/u),
    })
    const { code, out } = await printed('storage', 'recover', '--config', config)
    expect([code, out]).toEqual([0, expect.stringMatching(/^Read \d+ items: [1-9]\d* removed\.\n/u)])
    expect(out).toContain('The signing keys are in the configuration: replace them')
    expect(out).toContain('all users sign in again. Changes of accounts since the backup are lost')

    const restarted = await serve(config)
    expect(await restarted.isActive(issued.access_token)).toBe(false)
    expect(await restarted.refresh(issued.refresh_token)).toBe(400)
    expect(await restarted.refresh((await restarted.login()).refresh_token)).toBe(200)
  })

  test('prints JSON', async () => {
    const { code, out } = await printed('storage', 'recover', '--config', file(directories()), '--json')
    expect([code, JSON.parse(out)]).toEqual([0, { read: 0, removed: 0, dryRun: false }])
  })

  test('is refused for a target of a copy that is not complete, and no server starts with either', async () => {
    const [from, to] = [file(directories()), file(directories())]
    await (await serve(from)).login()
    await printed('storage', 'copy', '--from', from, '--to', to)
    expect(await printed('storage', 'recover', '--config', to)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`storage recover of ${to}: the storage is the target of a copy`),
    })
    await expect(startServer({ loaded: await loadConfiguration(to, {}), port: 0, observe: () => {} })).rejects.toThrow(
      'storage copy',
    )
  })

  test('of a storage in memory exits with 1', async () => {
    const { code, err } = await printed('storage', 'recover', '--config', file({ driver: 'memory' }))
    expect([code, err]).toEqual([1, expect.stringContaining('there is nothing to recover')])
  })
})
