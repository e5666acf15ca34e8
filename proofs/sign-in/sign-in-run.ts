import { rmSync } from 'node:fs'
import { createFleet } from '../../test/support/fleet.ts'
import type { NetworkStore } from '../../test/support/network-stores.ts'
import { reservedPort } from '../../test/support/reserved-port.ts'
import { newDirectory, realServerProgram } from '../../test/support/server-program.ts'
import { startBalancer } from './balancer.ts'
import { writeSetting } from './setting.ts'
import { createVisitor, type SignIn } from './visitor.ts'

/** Users that sign in at the same time. */
const concurrent = 16

export interface SignInReport {
  readonly signedIn: number
  /** Sign-ins that were in flight when a server was killed. Each user has tried again. */
  readonly interrupted: number
  /** Codes that were redeemed more than once. */
  readonly redeemedTwice: number
  /** All other failures. */
  readonly problems: readonly string[]
  readonly seconds: number
}

/**
 * Users sign in at several processes of the ready server on one store, behind a proxy that sends each request to the next
 * process. In the middle, one of the processes is killed.
 *
 * @param upstream the issuer of another provider, at which the users sign in
 */
export async function runSignIns(
  store: NetworkStore,
  signIns: number,
  servers: number,
  upstream?: string,
): Promise<SignInReport> {
  const directory = newDirectory()
  const program = await realServerProgram()
  const ports = await Promise.all(Array.from({ length: servers }, reservedPort))
  const configuration = writeSetting(directory, store, upstream)
  const fleet = createFleet({ program, configuration, ports, directory, environment: {} })
  for (const port of ports) fleet.start(port)
  const balancer = await startBalancer(ports)
  const results: SignIn[] = []
  let begun = 0

  async function visitNext(): Promise<void> {
    const visitor = createVisitor(begun++, balancer.origin)
    if (begun === Math.ceil(signIns / 2)) await fleet.kill(ports[0] as number)
    let result = await visitor.signIn()
    results.push(result)
    if (result.outcome !== 'interrupted') return
    result = await visitor.signIn()
    results.push(result.outcome === 'interrupted' ? { ...result, outcome: 'failed' } : result)
  }
  const worker = async (): Promise<void> => {
    while (begun < signIns) await visitNext()
  }

  try {
    await Promise.all(ports.map(fleet.ready))
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: concurrent }, worker))
    const count = (accept: (result: SignIn) => boolean): number => results.filter(accept).length
    return {
      signedIn: count(({ outcome }) => outcome === 'signed in'),
      interrupted: count(({ outcome }) => outcome === 'interrupted'),
      redeemedTwice: count(({ redemptions }) => redemptions > 1),
      problems: results.flatMap(({ outcome, problem = '' }) => (outcome === 'failed' ? [problem] : [])),
      seconds: Math.round((performance.now() - startedAt) / 1000),
    }
  } finally {
    await balancer.close()
    await fleet.killAll()
    rmSync(directory, { recursive: true, force: true })
  }
}
