import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { healthy, written } from './doctor/configurations.ts'
import { printed } from './printed.ts'

const valid = { ...healthy, issuer: 'http://127.0.0.1:8484', storage: { driver: 'memory' } }

describe('errors around the configuration are one line, too', () => {
  const sentence = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await printed('serve', ...args)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^grantry: [^\n]+\n$/u)
    return err
  }

  test('a missing file, and a directory instead of a file', async () => {
    const { directory } = written(valid)
    expect(await sentence('--config', join(directory, 'nowhere.json'))).toContain('the file does not exist')
    mkdirSync(join(directory, 'folder.json'))
    expect(await sentence('--config', join(directory, 'folder.json'))).toContain('EISDIR')
  })

  test('a module that throws an error with several lines', async () => {
    const { file } = written('throw new Error("first line\\nsecond line")', 'grantry.config.mjs')
    expect(await sentence('--config', file)).toContain('first line second line')
  })

  test('a plugin that is not JavaScript', async () => {
    const { directory, file } = written({ ...valid, plugins: ['./broken.mjs'] })
    writeFileSync(join(directory, 'broken.mjs'), 'export default {{{')
    expect(await sentence('--port', '0', '--config', file)).toContain('plugins[0]: cannot load ./broken.mjs')
  })

  test('a busy port', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    expect(await sentence('--port', String(port), '--config', written(valid).file)).toContain(
      `port ${port} on 127.0.0.1 is in use`,
    )
    taken.close()
  })

  test('a key file with other content, or with only a public key', async () => {
    const { directory, file } = written(valid)
    for (const [content, says] of [
      ['{}', 'it must be a JWK set'],
      ['{ "keys": [] }', 'keys'],
      ['{ "keys": [{ "kty": "EC", "crv": "P-256", "x": "AA", "y": "AA" }] }', 'keys[0]'],
      ['{ "keys": [{ "kty": "oct", "k": "c2VjcmV0" }] }', 'keys[0]'],
    ] as const) {
      writeFileSync(join(directory, 'keys.json'), content)
      expect(await sentence('--port', '0', '--config', file)).toContain(says)
    }
  })
})
