import type { Json } from '@grantry/core'
import type { Bench } from './bench.ts'
import type { CaseParameters, ParametersOf, RefusedCase } from './cases.ts'
import { inSetting } from './setting.ts'
import type { Outgoing, Received, Sender, Setting, Target } from './target.ts'

/** A target whose parameters are tested. */
export interface ParameterTarget extends Target {
  /** The parameters that the part itself declares; `undefined` if it accepts any. */
  readonly declared: readonly string[] | undefined
  readonly refused: readonly RefusedCase[]
  /** The error of refusals that have none. */
  readonly refusedWith: string
  /** Whether refusals with `refusedWith` must have the same description. */
  readonly uniform: boolean
  /** Whether a response refuses a credential of the plugin, not the form of a request. */
  refusesCredential(response: Received): boolean
  readonly sender: Sender
}

export const isSuccess = ({ status, error }: Received): boolean => status < 400 && error === undefined

/** Returns a short description of a response. */
export function seenIn({ status, error, body, reason }: Received): string {
  if (error === undefined) return `the response was ${status}`
  const description: unknown = body?.error_description
  const why = typeof description === 'string' ? `: ${description}` : ''
  return `the response was ${status} ${error}${why}${reason === undefined ? '' : ` (${reason})`}`
}

const isRefusedWith = (response: Received, expected: string): boolean =>
  !isSuccess(response) && response.status < 500 && response.error === expected

const resolved = async (parameters: ParametersOf, setting: Setting, sender: Sender): Promise<CaseParameters> =>
  typeof parameters === 'function' ? parameters(setting.context(sender)) : parameters

/** Values that break code that expects another form. */
export const hostile = [
  '\u0000',
  '__proto__',
  '%00',
  '[]',
  '{"a":{}}',
  'null',
  '-1',
  'a.b.c',
  '\u{1F4A5}',
  '../..',
  'x'.repeat(300),
]

/** Values of other types, for bodies of JSON. */
const otherTypes: readonly Json[] = [null, true, -1, [], {}]

/** Checks how the part handles its parameters, with a new provider for each change. */
export async function checkParameters(bench: Bench, target: ParameterTarget): Promise<void> {
  const { findings } = bench
  const { part, sender, declared } = target
  const add = (rule: Parameters<typeof findings.add>[0], what: string, response: Received): void =>
    // A server_error is a finding of its own.
    response.status === 500 ? undefined : findings.add(rule, part, `${what}, ${seenIn(response)}`)

  const sendChanged = (change: (outgoing: Outgoing) => Outgoing): Promise<Received> =>
    inSetting(bench, target, async (setting) => setting.send(change(await target.prepare(setting, sender))))
  const sendWith = (parameters: CaseParameters): Promise<Received> =>
    sendChanged((outgoing) => ({ ...outgoing, parameters: { ...outgoing.parameters, ...parameters } }))

  const sample = await inSetting(bench, target, (setting) => target.prepare(setting, sender))
  const names = Object.keys(sample.parameters).filter(
    (name) => sample.parameters[name] !== undefined && name !== 'grant_type' && name !== 'scope',
  )
  for (const name of names) {
    const isOwn = declared?.includes(name) ?? true
    const missing = await sendWith({ [name]: undefined })
    if (isOwn && !isSuccess(missing) && !isRefusedWith(missing, 'invalid_request')) {
      add('missing-parameter', `without ${name}`, missing)
    }
    const empty = await sendWith({ [name]: '' })
    if (isOwn && sample.body !== 'json' && isSuccess(empty) !== isSuccess(missing)) {
      add('empty-parameter', `with an empty ${name}`, empty)
    }
    if (sample.body !== 'json' && name !== 'resource' && name !== 'audience') {
      const repeated = await sendChanged((outgoing) => ({ ...outgoing, repeat: name }))
      if (!isRefusedWith(repeated, 'invalid_request')) add('repeated-parameter', `with two ${name}`, repeated)
    }
    const oversized = await sendWith({ [name]: 'x'.repeat(60_000) })
    if (isSuccess(oversized)) add('oversized-parameter', `with a long ${name}`, oversized)
    // Every response is checked. The part may accept the value.
    await inSetting(bench, target, async (setting) => {
      const values = sample.body === 'json' ? [...hostile, ...otherTypes] : hostile
      for (const [index, value] of values.entries()) {
        const { parameters, ...outgoing } = await target.prepare(setting, sender)
        // From different addresses, because a limit would refuse the later values unread.
        await setting.send({ ...outgoing, from: `198.51.100.${index}`, parameters: { ...parameters, [name]: value } })
      }
    })
  }
  const unknown = await sendWith(
    Object.fromEntries([
      ['x_unknown', 'a value'],
      ['constructor', 'a value'],
    ]),
  )
  if (!isSuccess(unknown)) add('unknown-parameter', 'with the parameters x_unknown and constructor', unknown)
}

/** Checks the refused requests of the case. */
export async function checkRefusals(bench: Bench, target: ParameterTarget): Promise<void> {
  const { findings } = bench
  const { part, sender, refused, refusedWith, uniform } = target
  const descriptions = new Map<string, string>()
  for (const [index, { with: change, error = refusedWith }] of refused.entries()) {
    const response = await inSetting(bench, target, async (setting) => {
      const outgoing = await target.prepare(setting, sender)
      const parameters = { ...outgoing.parameters, ...(await resolved(change, setting, sender)) }
      return setting.send({ ...outgoing, parameters })
    })
    if (response.status === 500) continue
    if (!isRefusedWith(response, error)) {
      findings.add('refusal', part, `instead of ${error} for refused[${index}], ${seenIn(response)}`)
      continue
    }
    // Other errors describe the request, not the credential.
    if (!uniform || error !== refusedWith) continue
    const description = String(response.body.error_description)
    const earlier = descriptions.get(error)
    if (earlier === undefined) descriptions.set(error, description)
    else if (earlier !== description) {
      findings.add('uniform-refusal', part, `${error} was described as "${earlier}" and as "${description}"`)
    }
  }
}
