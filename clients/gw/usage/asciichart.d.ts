declare module 'asciichart' {
  interface PlotOptions {
    readonly height?: number;
    readonly format?: (value: number) => string;
  }
  const asciichart: { plot(series: readonly number[], options?: PlotOptions): string };
  export default asciichart;
}
