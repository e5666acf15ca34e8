import process from 'node:process'
import { contractProvider } from '../../contract/provider.ts'

/** The provider of the contract suite with two additional paths: one throws, the other never responds. */
export async function limited() {
  const provider = await contractProvider()
  return {
    issuer: provider.issuer,
    async fetch(request: Request): Promise<Response> {
      if (request.url.includes('/local/throws')) throw new Error('hunter2')
      if (request.url.includes('/local/never')) {
        process.stdout.write('waiting\n')
        return new Promise(() => {})
      }
      return provider.fetch(request)
    },
  }
}

/** Seconds: for a body to arrive (by default so short that it passes in a test), and for open requests to complete. */
export const limits = { requestTimeout: Number(process.argv[2] ?? 1), drain: 1 } as const

/** Prints the errors that the adapter reports. */
export const onError = (error: unknown): void => {
  process.stdout.write(`onError: ${(error as Error).message}\n`)
}

export function announce(running: { readonly port: number; close(seconds: number): Promise<void> }): void {
  process.once('SIGTERM', async () => {
    await running.close(limits.drain)
    process.stdout.write('closed\n')
  })
  process.stdout.write(`listening on ${running.port}\n`)
}
