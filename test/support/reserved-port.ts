import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { diskTemporaryDirectory } from './directory.ts'
import { createPortReserve, type PortReserve } from './port-reserve.ts'

/** The first port that the kernel gives to outgoing connections and to `listen(0)`. */
function firstEphemeralPort(): number {
  const file = '/proc/sys/net/ipv4/ip_local_port_range'
  // Other systems begin at 49152.
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : 32_768
}

/** The same directory for all runs on this machine. Users replace the abandoned locks of each other. */
function lockDirectory(): string {
  const directory = join(diskTemporaryDirectory(), 'grantry-ports')
  if (mkdirSync(directory, { recursive: true }) !== undefined) chmodSync(directory, 0o777)
  return directory
}

let reserve: PortReserve | undefined

/**
 * Returns a loopback port for a program that must know its port before it listens: because its issuer contains it, or
 * because it cannot choose one itself. No other process of the tests, the proofs or the benchmarks gets this port, and
 * the kernel gives it to no connection. A server that can listen on port 0 and reports its port needs none.
 */
export function reservedPort(): Promise<number> {
  if (reserve === undefined) {
    const last = Math.min(firstEphemeralPort(), 32_768) - 1
    reserve = createPortReserve({ directory: lockDirectory(), first: last - 12_000, last })
    process.once('exit', reserve.release)
  }
  return reserve.reserve()
}
