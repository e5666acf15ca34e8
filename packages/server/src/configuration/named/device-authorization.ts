import { configurationObject, type Plugins } from '@grantry/core'
import { deviceAuthorization, deviceAuthorizationSchema } from '@grantry/plugins/device-authorization'
import * as v from 'valibot'
import { type Context, isNamedEntry, named, url } from './plugin-hosts.ts'

const deviceEntry = configurationObject({
  ...deviceAuthorizationSchema.entries,
  /** Default: the page of the plugin `sign-in`. */
  verificationUri: v.optional(deviceAuthorizationSchema.entries.verificationUri),
})
export type DeviceEntry = v.InferInput<typeof deviceEntry>

function createDeviceAuthorization({ verificationUri, ...options }: DeviceEntry, { entries, at }: Context): Plugins {
  if (verificationUri !== undefined) return deviceAuthorization({ ...options, verificationUri })
  if (entries.some((entry) => isNamedEntry(entry) && entry.name === 'sign-in')) return []
  throw new TypeError(`plugins[${at}].verificationUri is required without the plugin sign-in`)
}

export const plugin = named(deviceEntry, createDeviceAuthorization, { verificationUri: url })
