import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { webRuntime } from '@grantry/core'
import { expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { bytesOfLength, lengths } from './programs/hashed-bytes.ts'

const bun = runtimeExecutable('.bin/bun')

describeWithRuntime('bunRuntime', bun, () => {
  test('hashes as the web runtime does', async () => {
    const program = await bundle(new URL('./programs/hashes-bun.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(bun, [program])
    await rm(dirname(program), { recursive: true })
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
    const expected = lengths.map((length) => {
      const data = bytesOfLength(length)
      expect(hex(webRuntime.sha256(data))).toBe(createHash('sha256').update(data).digest('hex'))
      return `${hex(webRuntime.sha256(data))} ${hex(webRuntime.sha512(data))}`
    })
    expect(stdout.trim().split('\n')).toEqual(expected)
  })
})
