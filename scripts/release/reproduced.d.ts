export function differences(root: string, otherRoot: string, folders: readonly string[]): readonly string[]
export function checkReproduced(root: string, folders: readonly string[]): void
