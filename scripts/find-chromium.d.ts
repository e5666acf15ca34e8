export const chromiumMissing: string
export function findChromium(): string | undefined
