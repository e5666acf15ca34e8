import { vi } from 'vitest'
import { main } from '../../packages/server/src/cli.ts'
import type { Ended } from './running-program.ts'

/** Runs `grantry <args>` in this process, and keeps what it prints. */
export async function printed(...args: readonly string[]): Promise<Ended> {
  let out = ''
  let err = ''
  const writes = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += String(text)
      // A server that should not have started would run for ever.
      if (String(text).startsWith('Grantry listens on')) setImmediate(() => process.emit('SIGTERM'))
      return true
    }),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      err += String(text)
      return true
    }),
  ]
  try {
    const code = await main(args)
    return { code, out, err }
  } finally {
    for (const write of writes) write.mockRestore()
  }
}
