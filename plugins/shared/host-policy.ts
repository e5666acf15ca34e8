import { configurationObject } from '@grantry/core'
import * as v from 'valibot'

const hostPattern = v.pipe(
  v.string('must be a host, such as app.example.com or *.example.com'),
  v.regex(
    /^(?:\*\.)?[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)+$/u,
    'must be a host in lower case, such as app.example.com, or *.example.com for all hosts below it',
  ),
)

/** An option with policies for some hosts. The first pattern that fits counts. */
export const hostPolicies = <P extends v.GenericSchema<string>>(policy: P) =>
  v.optional(v.array(configurationObject({ host: hostPattern, policy })), [])

const fits = (pattern: string, hostname: string): boolean =>
  pattern.startsWith('*.') ? hostname.endsWith(pattern.slice(1)) : hostname === pattern

/** Creates a function that returns the policy for a host: that of the first pattern that fits. */
export const createPolicyOf =
  <P>(hosts: readonly { readonly host: string; readonly policy: P }[], otherHosts: P) =>
  (hostname: string): P =>
    // A final dot names the same host.
    hosts.find(({ host }) => fits(host, hostname.replace(/\.$/u, '')))?.policy ?? otherHosts
