import type { KeyInfo } from '@grantry/core'
import { pause } from '../../test/support/pause.ts'
import { rotateAfter } from './orders.ts'
import type { Server } from './service.ts'

/** The results of a run. Every broken guarantee is in `faults`. */
export interface RotationRun {
  readonly issued: number
  readonly accepted: number
  /** How many of them were accepted once more, after other tokens. */
  readonly again: number
  readonly late: number
  /** Rotations by command, and by schedule. */
  readonly commanded: number
  readonly scheduled: number
  readonly faults: readonly string[]
}

/** How many tokens must be issued, and how many accepted again: less proves nothing. */
const enough = 100

const currentOf = (keys: readonly KeyInfo[]): string | undefined => keys.find(({ state }) => state === 'current')?.kid

/**
 * Checks the events of all processes: one rotation after the other, each of which lets the key sign that the previous
 * one published.
 */
export function faultsOfChain(
  events: readonly { kid: string; nextKid: string; retiredKid?: string | undefined }[],
  last: string,
): readonly string[] {
  const byRetired = new Map(events.map((event) => [event.retiredKid, event]))
  if (byRetired.size !== events.length) return [`one key was retired by two rotations: ${JSON.stringify(events)}`]
  const promoted = new Set(events.map(({ kid }) => kid))
  const first = events.filter(({ retiredKid }) => retiredKid === undefined || !promoted.has(retiredKid))
  if (first.length !== 1) return [`${first.length} rotations follow none of the others`]
  let [at] = first
  let length = 1
  for (let next = at && byRetired.get(at.kid); at !== undefined && next !== undefined; next = byRetired.get(at.kid)) {
    if (next.kid !== at.nextKid) return [`a key that was not the next one signs: ${next.kid}`]
    at = next
    length += 1
  }
  if (length !== events.length) return [`${events.length} rotations, of which ${length} follow each other`]
  return at?.kid === last ? [] : [`the last rotation is not the one that is in use`]
}

/**
 * Puts load on every process, and rotates meanwhile: every second rotation is requested from all processes at the same
 * moment, the others follow the schedule. Each token is presented to another process and to an API that has its keys
 * from there, immediately and again later.
 *
 * @param rotations how many in all
 */
export async function runRotations(
  servers: readonly Server[],
  { rotations, perBatch, secondsNow }: { rotations: number; perBatch: number; secondsNow: () => number },
): Promise<RotationRun> {
  const at = (index: number): Server => servers[index % servers.length] as Server
  const faults: string[] = []
  let [issued, accepted, again, late, commands, tooLate] = [0, 0, 0, 0, 0, 0]
  let done = false

  /** Returns how many were accepted. */
  async function show(tokens: readonly string[], index: number): Promise<number> {
    const verdicts = await at(index).order({ what: 'validate', tokens })
    accepted += verdicts.accepted
    late += verdicts.late
    faults.push(...verdicts.refused)
    return verdicts.accepted
  }

  async function load(index: number): Promise<void> {
    const earlier: (readonly string[])[] = []
    while (!done) {
      const tokens = await at(index).order({ what: 'issue', count: perBatch })
      issued += tokens.length
      earlier.push(tokens)
      await show(tokens, index + 1)
      // Again at a third one, when keys may have changed since.
      if (earlier.length > 5) again += await show(earlier.shift() ?? [], index + 2)
    }
  }

  /**
   * Whether every process knows the next key, and the next scheduled rotation is far away: the cause of a rotation that
   * is due would be unclear.
   */
  async function isTimeForCommand(): Promise<boolean> {
    const keys = await at(0).order({ what: 'list' })
    const [current, next] = ['current', 'next'].map((state) => keys.find((key) => key.state === state))
    const now = secondsNow()
    return (next?.createdAt ?? now) + 365 < now && (current?.activatedAt ?? 0) + rotateAfter > now + 300
  }

  async function rotateByCommand(): Promise<void> {
    while (!(await isTimeForCommand())) await pause(50)
    const begun = secondsNow()
    const responses = await Promise.all(servers.map((server) => server.order({ what: 'rotate' })))
    if (!responses.includes('done')) faults.push('a commanded rotation was refused by every process')
    commands += 1
    // On a busy machine, the last process can receive its order when the next key has been public for long enough.
    if (secondsNow() - begun > 300) tooLate += responses.filter((response) => response === 'done').length - 1
  }

  async function rotateBySchedule(): Promise<void> {
    const before = currentOf(await at(0).order({ what: 'list' }))
    while (currentOf(await at(1).order({ what: 'list' })) === before) await pause(50)
  }

  async function rotateAll(): Promise<void> {
    try {
      for (let rotation = 0; rotation < rotations; rotation += 1) {
        await (rotation % 2 === 0 ? rotateByCommand() : rotateBySchedule())
      }
      while (issued < enough || again < enough) await pause(50)
    } finally {
      done = true
    }
  }

  await Promise.all([rotateAll(), ...servers.map((_, index) => load(index))])
  const events = (await Promise.all(servers.map((server) => server.order({ what: 'events' })))).flat()
  const commanded = events.filter(({ reason }) => reason === 'command').length
  if (commanded < commands || commanded > commands + tooLate) {
    faults.push(`${commands} commands to all processes made ${commanded} rotations`)
  }
  const lists = await Promise.all(servers.map((server) => server.order({ what: 'list' })))
  if (new Set(lists.map(currentOf)).size !== 1) faults.push('the processes do not agree on the key that signs')
  faults.push(...faultsOfChain(events, currentOf(lists[0] ?? []) ?? ''))
  return { issued, accepted, again, late, commanded, scheduled: events.length - commanded, faults }
}
