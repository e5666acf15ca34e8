// grantry storage copy: an operator moves a running service to another storage.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { progressBar } from '../../packages/server/src/commands/progress-bar.ts'
import { directories, file, serve } from './operator-server.ts'
import { printed } from './printed.ts'

describe('grantry storage copy', () => {
  test('moves a service: copies while it runs, and completes after it has stopped', async () => {
    const [from, to] = [file(directories()), file(directories())]
    const old = await serve(from)
    const issued = await old.login()
    const first = await printed('storage', 'copy', '--from', from, '--to', to)
    expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^Read \d+ items: \d+ written, 0 removed\.\n/u) })
    expect(first.out).toContain('Stop it, run this command again with --final')
    expect(first.err).toMatch(/^from {2}filesystem: \S+, without fsync.*\nto {4}filesystem: \S+, without fsync.*\n$/u)

    expect(await old.refresh(issued.refresh_token)).toBe(200)
    const final = await printed('storage', 'copy', '--from', from, '--to', to, '--final', '--json')
    expect([final.code, JSON.parse(final.out)]).toEqual([0, expect.objectContaining({ final: true, dryRun: false })])
    expect(JSON.parse(final.out).written).toBeGreaterThan(0)

    const moved = await serve(to)
    expect(await moved.isActive(issued.access_token)).toBe(true)
    expect(await moved.refresh((await moved.login()).refresh_token)).toBe(200)
  })

  test('into a storage that was checked before', async () => {
    const [from, to] = [file(directories()), file(directories())]
    await (await serve(from)).login()
    // Its signing keys are in the storage.
    writeFileSync(to, JSON.stringify({ ...JSON.parse(readFileSync(to, 'utf8')), keys: {} }))
    const check = await printed('check', '--json', '--config', to)
    expect(JSON.parse(check.out).findings).not.toContainEqual(expect.objectContaining({ where: 'storage' }))
    expect(await printed('storage', 'copy', '--from', from, '--to', to)).toMatchObject({ code: 0 })
  })

  test('counts only in a dry run', async () => {
    const [from, target] = [file(directories()), directories()]
    await (await serve(from)).login()
    const { code, out } = await printed('storage', 'copy', '--from', from, '--to', file(target), '--dry-run')
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^Read \d+ items: [1-9]\d* to be written, 0 to be removed\.\nNothing was written\.\n$/u),
    ])
    const written = existsSync(`${target.directory}/items`)
      ? readdirSync(`${target.directory}/items`, { recursive: true })
      : []
    expect(written.filter((path) => String(path).includes('/'))).toEqual([])
  })

  test('into a storage in use exits with 1 and changes nothing', async () => {
    const [from, to] = [file(directories()), file(directories())]
    await (await serve(from)).login()
    const target = await serve(to)
    const { access_token } = await target.login()
    const { code, out, err } = await printed('storage', 'copy', '--from', from, '--to', to)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/grantry: storage copy from \S+ to \S+: the target storage has items: [^\n]+\n$/u)
    expect(await target.isActive(access_token)).toBe(true)
  })

  test('from memory exits with 1', async () => {
    const { code, err } = await printed(
      ...['storage', 'copy', '--from', file({ driver: 'memory' }), '--to', file(directories())],
    )
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        'storage.driver is memory, which only the server process can access; its items cannot be copied',
      ),
    ])
  })

  test('without a target is wrong usage', async () => {
    expect(await printed('storage', 'copy')).toMatchObject({ code: 2, err: expect.stringContaining('--to') })
  })
})

describe('the progress bar', () => {
  function shown(isTTY: boolean): readonly string[] {
    const written: string[] = []
    const bar = progressBar({ isTTY, write: (text: string) => written.push(text) } as never, 200)
    for (const done of [0, 100, 100, 250]) bar.show('copy', done)
    bar.end()
    return written
  }

  test('shows the share on a terminal, and removes itself', () => {
    const [none, half, full, end] = shown(true)
    expect([none, half, full]).toEqual([
      `\rcopy   [${'-'.repeat(30)}] 0 %  0 items`,
      `\rcopy   [${'#'.repeat(15)}${'-'.repeat(15)}] 50 %  100 items`,
      `\rcopy   [${'#'.repeat(30)}] 100 %  250 items`,
    ])
    expect(end).toMatch(/^\r +\r$/u)
  })

  test('writes nothing to a file', () => {
    expect(shown(false)).toEqual([])
  })
})
