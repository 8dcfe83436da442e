/** Downloads a CSV file. */
export function download(name: string, file: Blob | string): void {
  const blob = typeof file === 'string' ? new Blob([file], { type: 'text/csv;charset=utf-8' }) : file;
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
