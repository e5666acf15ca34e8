import { vi } from 'vitest'
import { main } from '../../packages/server/src/cli.ts'
import { listeningAddress } from '../support/listening.ts'
import type { Ended } from './running-program.ts'

/** Runs `grantry <args>` in this process and returns its output. A server writes its text log and banner. */
export async function printed(...args: readonly string[]): Promise<Ended> {
  const forPerson = args[0] === 'serve' ? ['--log-format', 'text'] : []
  // A server runs until it receives a signal.
  let stopping = false
  const stopSoon = (): void => {
    if (!stopping) setImmediate(() => process.emit('SIGTERM'))
    stopping = true
  }
  let out = ''
  let err = ''
  const writes = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += String(text)
      if (String(text).startsWith('Grantry is listening on')) stopSoon()
      return true
    }),
    vi.spyOn(process.stderr, 'write').mockImplementation((text: unknown, ...rest: readonly unknown[]) => {
      err += String(text)
      if (listeningAddress(String(text)) !== undefined) stopSoon()
      const done = rest.at(-1)
      if (typeof done === 'function') done()
      return true
    }),
  ]
  try {
    const code = await main([...args, ...forPerson])
    return { code, out, err }
  } finally {
    for (const write of writes) write.mockRestore()
  }
}
