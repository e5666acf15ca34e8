import { bunRuntime } from '@grantry/adapters/bun'
import { bytesOfLength, lengths } from './hashed-bytes.ts'

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex')

for (const length of lengths) {
  const data = bytesOfLength(length)
  process.stdout.write(`${hex(bunRuntime.sha256?.(data))} ${hex(bunRuntime.sha512?.(data))}\n`)
}
