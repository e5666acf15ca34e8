import type { Kit } from '@grantry/core'
import * as v from 'valibot'

/** Seconds for which the records outlive the codes, so that an expired device code gets `expired_token`. */
const margin = 600

const requestSchema = v.object({
  clientId: v.string(),
  scopes: v.array(v.string()),
  /** Epoch seconds. */
  expiresAt: v.number(),
  /** The SHA-256 of the device code. The storage never contains the code. */
  deviceHash: v.string(),
  /** The epoch of the client when the device began. */
  clientEpoch: v.exactOptional(v.string()),
})

/** A pending request of a device. */
export type DeviceRecord = v.InferOutput<typeof requestSchema>

const decisionSchema = v.object({ sub: v.optional(v.string()) })
const paceSchema = v.object({ interval: v.number() })

export const deviceRecords = ({ records }: Pick<Kit, 'records'>) => ({
  /** Stores a request. Returns `false` if the user code is in use. */
  async create(userCode: string, request: DeviceRecord): Promise<boolean> {
    const keptUntil = request.expiresAt + margin
    if (!(await records.insert(`user:${userCode}`, request, keptUntil))) return false
    await records.put(`device:${request.deviceHash}`, request, keptUntil)
    return true
  },
  /** Removes a request that no party knows yet. */
  async remove(userCode: string, { deviceHash }: DeviceRecord): Promise<void> {
    await Promise.all([records.delete(`user:${userCode}`), records.delete(`device:${deviceHash}`)])
  },
  byUserCode: (userCode: string) => records.get(`user:${userCode}`, requestSchema),
  byDeviceCode: (hash: string) => records.get(`device:${hash}`, requestSchema),
  /**
   * Reserves the approval for a user. Returns `false` if another user has approved. The same user can repeat an approval
   * that has failed in the middle.
   */
  async claim({ deviceHash, expiresAt }: DeviceRecord, sub: string): Promise<boolean> {
    if (await records.insert(`approval:${deviceHash}`, { sub }, expiresAt + margin)) return true
    return (await records.get(`approval:${deviceHash}`, decisionSchema))?.sub === sub
  },
  /** Records the decision of a user; the first one counts. `sub` is absent after a denial. */
  decide: ({ deviceHash, expiresAt }: DeviceRecord, sub?: string) =>
    records.insert(`decision:${deviceHash}`, sub === undefined ? {} : { sub }, expiresAt + margin),
  decisionOf: (hash: string) => records.get(`decision:${hash}`, decisionSchema),
  /** The interval that the device must keep, if it has polled too fast. */
  paceOf: (hash: string) => records.get(`pace:${hash}`, paceSchema),
  /** Whether the device may poll now. Atomic: of concurrent requests, one may. */
  admit: (hash: string, until: number) => records.insert(`poll:${hash}`, true, until),
  /** Counts a request that came too early. */
  countEarly: (hash: string, { expiresAt }: DeviceRecord) => records.increment(`early:${hash}`, expiresAt + margin),
  slowDown: (hash: string, interval: number, { expiresAt }: DeviceRecord) =>
    records.put(`pace:${hash}`, { interval }, expiresAt + margin),
})
