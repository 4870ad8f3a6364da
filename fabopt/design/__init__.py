"""From the program's solution to a Design: fabrics, bill of materials, stages."""
