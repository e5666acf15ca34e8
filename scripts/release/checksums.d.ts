export function checksumsOf(directory: string): string
